"""`packbelt compile`."""

import sys
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, complete_agents, with_source

if TYPE_CHECKING:
    from packbelt.turn import Turn


def complete_targets(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Targets whose names begin so."""
    from packbelt.providers import TARGETS, target

    return [CompletionItem(name, help=target(name).title) for name in TARGETS if name.startswith(begun)]


@click.command("compile", epilog="Example: packbelt compile orchestrator --for anthropic --search")
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.option(
    "--for",
    "target",
    metavar="TARGET",
    shell_complete=complete_targets,
    help="Whose form: anthropic, openai, openai-chat, gemini, claude-agent-sdk, openai-agents, pydantic-ai, "
    "langchain, copilot or mcp.",
)
@click.option("--matrix", is_flag=True, help="Every target against every axis, instead of one form.")
@click.option("--search", is_flag=True, help="Put off what is packed by the target's own tool search.")
@click.option(
    "--as",
    "shown_as",
    metavar="NAME",
    help="For mcp: the client knows the server by NAME, and shows a tool as mcp__NAME__tool.",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Leave out what cannot be said there, instead of refusing the whole.",
)
@click.option("--strict", is_flag=True, help="Exit 1 where something stays open or is left out.")
@click.option("--all", "everything", is_flag=True, help="With --matrix: every sentence of every target.")
@with_source
def command(
    *,
    agent: str | None,
    target: str | None,
    matrix: bool,
    search: bool,
    shown_as: str | None,
    allow_missing: bool,
    strict: bool,
    everything: bool,
    source: Source,
) -> int:
    """AGENT's belt in a target's own form, as JSON: tools, and system text that names them as they are there.

    Without AGENT, the workspace's orchestrator. --json gives target, form, names, enforcement and
    diagnostics. On a terminal a table on standard error says, axis by axis, what the target itself does,
    what packbelt adds, and what stays open. Nothing is started; servers are as --snapshot says.
    """
    from packbelt.cli.loaded import refuse_broken_sections

    options: dict[str, Any] = {}
    if search:
        options["search"] = True
    if shown_as is not None:
        options["shown_as"] = shown_as
    if matrix == (target is not None):
        raise click.UsageError("write --for TARGET, or --matrix for all of them" if target is None else _BOTH)
    if matrix and (options or allow_missing):
        raise click.UsageError(_ALONE)
    if everything and not matrix:
        raise click.UsageError("--all belongs to --matrix")
    turn = source.turn(agent)
    refuse_broken_sections(turn)
    if target is None:
        return _matrix(turn, source, strict=strict, everything=everything)
    return _one(turn, target, options, source, allow_missing=allow_missing, strict=strict)


_BOTH = "--matrix is of all targets, and --for of one: choose one"
_ALONE = "--search, --as and --allow-missing belong to --for: --matrix shows every target as it is by itself"


def _one(
    turn: "Turn", target: str, options: dict[str, Any], source: Source, *, allow_missing: bool, strict: bool
) -> int:
    from packbelt.cli.compile_text import show_form
    from packbelt.cli.output import line_of, note, write_json
    from packbelt.turn.matrix import left_out, open_axes

    form = turn.compile(target, strict=not allow_missing, **options)
    if source.json:
        write_json(form.to_json())
    else:
        write_json(dict(form.kwargs))
        for one in form.diagnostics:
            note(line_of(one))
        if sys.stderr.isatty():
            show_form(turn, form)
    found = [str(axis) for axis in open_axes(form)]
    found += [f"{name} is shown besides" for name in form.enforcement.residue]
    found += [f"{name} is left out" for name, _ in left_out(turn, form)]
    if not (strict and found):
        return FINE
    note(f"in {form.enforcement.target.title} this stays open: {', '.join(found)}")
    return FINDINGS


def _matrix(turn: "Turn", source: Source, *, strict: bool, everything: bool) -> int:
    from packbelt.cli.compile_text import show_matrix
    from packbelt.cli.json_forms import matrix_json
    from packbelt.cli.output import write_json
    from packbelt.turn.matrix import matrix

    rows = matrix(turn)
    if source.json:
        write_json(matrix_json(turn.agent, rows))
    else:
        show_matrix(turn, rows, everything=everything)
    return FINDINGS if strict and any(row.is_open for row in rows) else FINE
