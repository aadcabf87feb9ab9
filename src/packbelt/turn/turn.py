"""`Turn`: one belt, its sections, prompt and cost, all from one workspace and one snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

from packbelt.belt import Belt, Scope, belt_of, resolve, started
from packbelt.belt.opener import opener_tool
from packbelt.belt.spell import Spell
from packbelt.catalog.registry import Runtime, bind, bits
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.cost import Cost, Method, measure
from packbelt.model import Code, Diagnostic, Level, Resolution, Tool
from packbelt.prompt import Sections, render_prompt, render_sections
from packbelt.providers import Form, compile_belt, with_builtins


@dataclass(frozen=True)
class Turn:
    """What one agent gets for one turn. Immutable; everything but the belt is worked out when asked for.

    Attributes:
        belt: the decision about every known tool.
        vanished: entries of the agent's file, and of the spawns above it, that meant something when it
            started, and nothing now.
    """

    belt: Belt
    vanished: tuple[Diagnostic, ...] = ()

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.belt.agent

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools whose schemas are sent, in order."""
        return self.belt.tools

    def tools_spelled(self, spell: Spell) -> tuple[Tool, ...]:
        """The tools whose schemas are sent, packbelt's own texts in them in a target's spelling.

        The tools' names stay: to spell those is the target's own doing.

        Args:
            spell: how the target spells a wire name.
        """
        opener = self.belt.opener
        if spell is str or opener is None:
            return self.tools
        spelled = opener_tool(self.belt, spell)
        return tuple(spelled if tool is opener else tool for tool in self.tools)

    @cached_property
    def rendered(self) -> Sections:
        """The sections with what was wrong with their templates."""
        return render_sections(self.belt)

    @property
    def sections(self) -> Mapping[str, str]:
        """The prompt's sections by name; one without content is absent."""
        return self.rendered.texts

    @cached_property
    def prompt(self) -> str:
        """The agent's prompt with its sections."""
        return render_prompt(self.belt, self.rendered)

    @cached_property
    def cost(self) -> Cost:
        """What the request costs in its neutral form."""
        return self.measure()

    def measure(self, method: Method = "json") -> Cost:
        """What the request costs by one method."""
        tools = self.belt.registry.tools
        callable_tools = tuple(tools[i] for i in bits(self.belt.callable))
        return measure(self.tools, self.sections, callable_tools, method=method)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the bytes that are sent, the tools' lines in order and then the sections."""
        content = sha256()
        for tool in self.tools:
            content.update(tool.line.encode("utf-8", "surrogatepass"))
        for name, text in sorted(self.sections.items()):
            content.update(f"\0{name}\0{text}".encode("utf-8", "surrogatepass"))
        return "sha256:" + content.hexdigest()

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What a person should know about this belt and its sections."""
        return (*self.vanished, *self.belt.diagnostics, *self.rendered.diagnostics)

    def compile(self, target: str, *, strict: bool = True, **options: Any) -> Form:
        """The belt in a target's own request form: tools, system text and names agree.

        Where the target runs tools of its own (Claude's `Read`), the belt is decided anew with these known.

        Args:
            target: `anthropic`, `openai`, `openai-chat`, `gemini`, `claude-agent-sdk`, `openai-agents`,
                `pydantic-ai`, `langchain`, `copilot` or `mcp`.
            strict: whether a tool that cannot be said there refuses the whole; else it alone is left out.
            options: the target's own, such as `search=True` for deferral by its own tool search.

        Raises:
            TargetError: there is no such target, or it has no such option.
            CompileError: a tool cannot be said there; names both sides.
        """
        belt, left_out = with_builtins(self.belt, target, strict=strict)
        form = compile_belt(belt, target, strict=strict, **options)
        return replace(form, diagnostics=(*left_out, *form.diagnostics)) if left_out else form

    def resolve(
        self, name: str, arguments: object = None, spell: Spell = str, *, search: bool = False
    ) -> Resolution:
        """What becomes of a call: a `Call`, a `HandOff`, or a `Refusal` with a hint.

        Args:
            name: the wire name that the model called.
            arguments: an object, or the JSON of one.
            spell: how the target spells wire names: in texts, and inside the arguments of packbelt's own
                tools.
            search: whether the target finds what is put away by its own search: texts then know no opener.
        """
        return resolve(self.belt.searched() if search else self.belt, name, arguments, spell)


def turn(
    workspace: Workspace,
    snapshot: Snapshot | None,
    agent: str | Scope,
    runtime: Runtime | None = None,
) -> Turn:
    """One agent's turn.

    Args:
        workspace: what may exist.
        snapshot: what is true now; None for nothing connected.
        agent: an agent's name for a root, or the scope of a spawned one.
        runtime: what a live host brings; None to ask of the files alone, as if it brought everything.

    Raises:
        UnknownAgentError: there is no such agent.
        AgentBrokenError: its file did not load.
        AgentRefusedError: it cannot start as its file stands.
        SelectorError: a spawn on its path names what does not exist.
    """
    registry = bind(workspace, NOTHING if snapshot is None else snapshot, runtime)
    found = registry.memo.get(("turn", agent))
    if found is None:
        scope = Scope(agent) if isinstance(agent, str) else agent
        found = registry.memo["turn", agent] = Turn(started(belt_of(registry, scope)))
    known: Turn = found
    return known


def first_turn(
    workspace: Workspace, snapshot: Snapshot, scope: Scope, runtime: Runtime | None = None, *, above: int
) -> Turn:
    """The first turn of an agent that others spawned which are at work.

    Args:
        workspace: what may exist.
        snapshot: what is true now.
        scope: who asks.
        runtime: what a live host brings.
        above: how many agents of its path, from the root on, have started: what their spawns named and is
            gone meanwhile is reported, and refuses nobody.

    Raises:
        UnknownAgentError, AgentBrokenError, AgentRefusedError, SelectorError: as for `turn`.
    """
    belt = started(belt_of(bind(workspace, snapshot, runtime), scope, started=above))
    return Turn(belt, tuple(one for _, one in belt.subject.lost))


def next_turn(workspace: Workspace, snapshot: Snapshot, scope: Scope, runtime: Runtime | None = None) -> Turn:
    """A later turn of an agent that has started: what vanished meanwhile is reported, and refuses nobody.

    Raises:
        UnknownAgentError, AgentBrokenError: as for `turn`.
    """
    belt = belt_of(bind(workspace, snapshot, runtime), scope, started=len(scope.path))
    gone = tuple(replace(one, level=Level.WARNING, code=Code.SELECTOR_VANISHED) for one in belt.problems)
    return Turn(belt, (*(one for _, one in belt.subject.lost), *gone))


NOTHING = Snapshot()
"""The snapshot in which nothing is connected."""
