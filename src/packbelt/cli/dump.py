"""`packbelt dump`."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from packbelt.cli.options import Source, complete_agents, with_source

if TYPE_CHECKING:
    from packbelt.catalog.registry import Registry
    from packbelt.model import PackbeltError
    from packbelt.turn import Turn

Method = Literal["json", "openai", "anthropic"]

_NAMED = 3
"""Written files that are named; of more only the number is."""


@click.command("dump", epilog="Example: packbelt dump orchestrator --snapshot now.yaml")
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List every tool that is put away or withheld; without AGENT, every agent.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write AGENT.tools.json, AGENT.prompt.md and AGENT.belt.json there.",
)
@click.option(
    "--method",
    type=click.Choice(["json", "openai", "anthropic"]),
    default="json",
    show_default=True,
    help="How tokens are counted: exactly on the neutral form, or as a provider is estimated to bill.",
)
@with_source
def command(agent: str | None, out: Path | None, method: Method, source: Source, *, everything: bool) -> None:
    """AGENT's belt: the tools that are sent, with their tokens, the packs put away, and what is withheld.

    Without AGENT: every agent, in one table. Nothing is started; servers are as --snapshot says.
    """
    from packbelt.cli.loaded import refuse_broken_sections
    from packbelt.model import PackbeltError

    registry = source.registry(agent)
    names = agent_names(registry) if agent is None else [agent]
    turns: dict[str, Turn | PackbeltError] = {}
    for name in names:
        try:
            turns[name] = found = _turn(registry, name)
            if agent is not None:
                refuse_broken_sections(found)
        except PackbeltError as error:
            if agent is not None:
                raise
            turns[name] = error
    if out is not None:
        _write(turns, out, method)
    if source.json:
        _write_json(turns, method, whole=agent is None)
    elif out is None:
        from packbelt.cli.dump_text import show_turn
        from packbelt.cli.fleet_text import show_fleet

        only = turns[agent] if agent is not None else None
        if only is None or isinstance(only, PackbeltError):
            show_fleet(registry, turns, method, everything=everything, given=source.given)
        else:
            show_turn(only, method, everything=everything)


def agent_names(registry: "Registry") -> list[str]:
    """Every agent, the root first, broken ones included."""
    workspace = registry.workspace
    names = [*workspace.agents, *workspace.broken]
    return sorted(names, key=lambda name: (name != workspace.orchestrator, name))


def _turn(registry: "Registry", agent: str) -> "Turn":
    from packbelt.turn import turn

    return turn(registry.workspace, registry.snapshot, agent)


def _write_json(turns: dict[str, "Turn | PackbeltError"], method: Method, *, whole: bool) -> None:
    from packbelt.cli.json_forms import dump_json, refused_json
    from packbelt.cli.output import write_json
    from packbelt.model import PackbeltError

    forms = [
        refused_json(name, turn) if isinstance(turn, PackbeltError) else dump_json(turn, method)
        for name, turn in turns.items()
    ]
    write_json(forms if whole else forms[0])


def _write(turns: dict[str, "Turn | PackbeltError"], out: Path, method: Method) -> None:
    """Three files for each agent that can start; the others are named on standard error."""
    from packbelt.cli.files import file_name, write_text
    from packbelt.cli.json_forms import dump_json
    from packbelt.cli.output import json_text, note, several
    from packbelt.model import PackbeltError

    written = []
    for name, turn in turns.items():
        if isinstance(turn, PackbeltError):
            note(f"not written: {turn}")
            continue
        texts = {
            "tools.json": json_text([tool.to_json() for tool in turn.tools]),
            "prompt.md": turn.prompt,
            "belt.json": json_text(dump_json(turn, method)),
        }
        for ending, text in texts.items():
            file = f"{file_name(name)}.{ending}"
            write_text(out / file, text if text.endswith("\n") else text + "\n")
            written.append(file)
    few = ", ".join(written) if len(written) <= _NAMED else several(len(written), "file")
    note(f"wrote {few} to {out}")
