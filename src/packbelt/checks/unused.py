"""What is there and does nothing: agents that nobody hands to or without tools, templates without a use."""

from collections.abc import Iterator

from packbelt.checks.workbench import Workbench, imported, listed
from packbelt.model import Code, Diagnostic, Level, Origin, ServerStatus, Where
from packbelt.prompt.body import known_sections, placed


def agents(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents that no chain of hand-offs from the root agent leads to, with the cut; disabled ones aside."""
    root = bench.belts.get(bench.root)
    if root is None:
        return
    for name in bench.belts:
        if name in bench.reached or name in bench.snapshot.disabled_agents:
            continue
        link = bench.registry.index.to_agent.get(name)
        why = "no hand-off leads to it"
        if link is not None:
            tool = bench.registry.tools[link].name
            cut = f"{root.state(link)}: {root.reasons(link)[0].detail}"
            why = f"for {root.agent!r}, hand-off {tool!r} is {cut}"
        yield Diagnostic(
            Level.WARNING,
            Code.AGENT_UNUSED,
            f"no hand-off from {bench.root!r} leads to agent {name!r}: {why}",
            bench.workspace.agents[name].where(),
            "name it in the `delegates` of an agent on the way, or remove it",
            name,
        )


def empty(bench: Workbench) -> Iterator[Diagnostic]:
    """Agents that can call nothing at all.

    A note where servers that are not connected may change it, and one note for all agents of another tool's
    format, whose built-in tools are not known here.
    """
    bare = [belt.subject for belt in bench.belts.values() if not belt.callable]
    for subject in bare:
        agent = subject.agent
        if imported(agent):
            continue
        states = (bench.registry.state(server).status for server in subject.servers)
        waits = any(status is not ServerStatus.CONNECTED for status in states)
        yield Diagnostic(
            Level.NOTE if waits else Level.WARNING,
            Code.AGENT_EMPTY,
            f"agent {agent.name!r} can call nothing at all"
            f"{' while its servers are not connected' if waits else ''}",
            agent.where("tools" if "tools" in agent.lines else ""),
            "`packbelt connect --save FILE` writes a snapshot to check with"
            if waits
            else "grant it tools or delegates, unless it should answer from its prompt alone",
            agent.name,
        )
    names = [subject.agent.name for subject in bare if imported(subject.agent)]
    if names:
        many = f"{len(names)} agents" if len(names) > 1 else "an agent"
        yield Diagnostic(
            Level.NOTE,
            Code.AGENT_EMPTY,
            f"{many} of Claude Code's can call nothing that is known here: {listed(names)}",
            None,
            "connect servers with `packbelt connect --save FILE`; Claude Code's built-in tools do not count",
            names[0],
        )


def templates(bench: Workbench) -> Iterator[Diagnostic]:
    """Section templates of the workspace's own that no agent's prompt has a place for."""
    known = known_sections(bench.workspace)
    used = {name for agent in bench.workspace.agents.values() for name in placed(agent, known)}
    for template in bench.workspace.templates.values():
        if template.origin is not Origin.EMBEDDED and template.name not in used:
            yield Diagnostic(
                Level.WARNING,
                Code.TEMPLATE_UNUSED,
                f"no prompt uses the section template {template.name!r}",
                Where(template.file),
                f"write {{{{ sections.{template.name} }}}} in a prompt, or remove or rename the file",
                template.name,
            )


CHECKS = (agents, empty, templates)
"""The checks of this family."""
