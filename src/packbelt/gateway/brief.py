"""A hand-off as a brief: what a client's own sub-agent needs to do the work of an agent."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from packbelt.belt import Belt, Scope, belt_of, started
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import Registry
from packbelt.gateway.guard import path_of
from packbelt.live.agent import LiveAgent
from packbelt.model import Answer, HandOff, Outcome, PackbeltError
from packbelt.prompt import render_prompt, render_sections

Reach = Callable[[str], str]
"""Says in one clause how the belt of an agent is reached as an MCP server."""


def by_command(root: Path, known_as: str | None) -> Reach:
    """An agent's belt is reached by starting a gateway of its own on standard input and output."""

    def reach(agent: str) -> str:
        named = ["--as", known_as] if known_as else []
        return f"`{shlex.join(['packbelt', 'serve', '--agent', agent, '-w', str(root), *named])}`, on stdio"

    return reach


def by_path(agent: str) -> str:
    """An agent's belt is reached at its path of this gateway, by its own token."""
    return f"`{path_of(agent)}` of this gateway, over streamable HTTP, with the bearer token of {agent}"


async def no_run(agent: LiveAgent, request: str) -> NoReturn:
    """Stands for a model loop where briefs answer every hand-off before one would be run.

    Raises:
        PackbeltError: a hand-off came here.
    """
    del request
    raise PackbeltError(
        f"agent {agent.name!r} is run by the client", mend="act on the brief", name=agent.name
    )


@dataclass(frozen=True, slots=True)
class Briefing:
    """What all briefs of one gateway have in common.

    Attributes:
        reach: says how an agent's belt is reached.
        spell: how the client shows names.
        known_as: the name by which the client knows a gateway, where packbelt was told.
    """

    reach: Reach
    spell: Spell = str
    known_as: str | None = None

    def answer(self, handoff: HandOff, registry: Registry) -> Answer:
        """The brief of an admitted hand-off; an error that says why where the agent cannot start."""
        try:
            belt = started(belt_of(registry, Scope(handoff.agent)))
        except PackbeltError as error:
            text = f"The hand-off to {handoff.agent} cannot be made now: {error}"
            return Answer.of_text(text, Outcome.NOT_STARTED)
        return Answer.of_text("\n\n".join(self._parts(handoff, belt)))

    def _parts(self, handoff: HandOff, belt: Belt) -> Iterator[str]:
        """The paragraphs.

        The belt is the one that the agent has as a root, since that is the one that a gateway serves: what
        the caller's own scope cuts, the client has to see to.
        """
        agent = belt.subject.agent
        yield (
            "Nothing has been done yet. This is a brief for a sub-agent of yours that does the work of "
            f"{agent.name}. Start one with the task, tools and instructions below, and use its answer."
        )
        yield f"## Who\n\n{agent.name}: {agent.description.strip()}".rstrip(": ")
        yield f"## Task\n\n{handoff.request.strip()}"
        if handoff.context and handoff.context.strip():
            yield f"## Context\n\n{handoff.context.strip()}"
        named = f" under the name `{self.known_as}`" if self.known_as else ""
        reach = self.reach(agent.name)
        yield f"## Tools\n\nIts tools are an MCP server: {reach}. Give it to the sub-agent{named}."
        if handoff.mcp_servers is not None:
            wanted = ", ".join(handoff.mcp_servers) or "none"
            yield (
                f"Of the MCP servers, only these are meant for it: {wanted}. packbelt cannot see to that in "
                "a sub-agent of yours: allow it no tools of other servers."
            )
        prompt = render_prompt(belt, render_sections(belt, self.spell), self.spell)
        if prompt.strip():
            yield f"## Instructions\n\n{prompt}"
