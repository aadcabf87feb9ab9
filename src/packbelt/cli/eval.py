"""`packbelt eval`."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from packbelt.cli.failure import FINDINGS, FINE
from packbelt.cli.options import Source, with_source


def complete_suites(ctx: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Suites whose names begin so; whatever is wrong with them completes to nothing."""
    from packbelt.catalog.load import load
    from packbelt.evals.files import read_suites

    try:
        suites = read_suites(load(ctx.params.get("workspace")))
    except Exception:  # noqa: BLE001 - a completion has nowhere to report a mistake to
        return []
    return [CompletionItem(suite.id, help=suite.summary) for suite in suites if suite.id.startswith(begun)]


@click.command("eval", epilog="Example: packbelt eval seed --model bot:raw --layout packed")
@click.argument("suite", required=False, shell_complete=complete_suites)
@click.option(
    "--model",
    "model_name",
    default="scripted",
    show_default=True,
    metavar="NAME",
    help="scripted, lexical, bot:NAME with raw, guess, web, loop or disobedient, or replay:FILE.",
)
@click.option(
    "--layout",
    default="promoted",
    show_default=True,
    type=click.Choice(("promoted", "packed", "flat")),
    help="As the files say; hand-offs put away beside tools open to all; or nothing put away.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Write the model's replies, for --model replay:FILE.",
)
@click.option("--trace", is_flag=True, help="Show each call, and what the model was told.")
@with_source
def command(
    *, suite: str | None, model_name: str, layout: str, record: Path | None, trace: bool, source: Source
) -> int:
    """Whether requests reach the right hand-off: the cases of SUITE, or of all suites in evals/.

    Each case is played turn by turn through the engine: the belt, its form, the gate and the relay. Nothing
    is started and no tool runs: tools, servers and the agents that are handed to answer what the case has
    them say. No model is asked over a network either: `scripted` follows each case's wishes as far as what
    it is shown allows; a bot has one bad habit; `lexical` compares words, and a case that it gets says
    little. `replay` says what was recorded; where it is asked something else, that is an error of the eval.

    Exits 1 if a request did not get where it belongs. --snapshot counts for the cases that say nothing of
    what is connected; --json holds the whole traces.
    """
    from contextlib import ExitStack
    from functools import partial

    from packbelt.cli.eval_text import show
    from packbelt.cli.loaded import load_errors, report
    from packbelt.cli.output import write_json
    from packbelt.evals import LAYOUTS, Recorder, choose, model_named, read_suites, run_suite
    from packbelt.live.foreground import foreground

    workspace = source.workspace()
    report(load_errors(workspace))
    suites = choose(read_suites(workspace, source.snapshot()), suite)
    model, laid_out = model_named(model_name), LAYOUTS[layout](workspace)
    with ExitStack() as stack:
        if record is not None:
            file = stack.enter_context(record.open("w", encoding="utf-8"))
            model = Recorder(model, lambda entry: file.write(entry.to_line()))
        reports = [foreground(partial(run_suite, laid_out, one, model)) for one in suites]
    if source.json:
        write_json({"layout": layout, "suites": [one.to_json() for one in reports]})
    else:
        for i, (one, asked) in enumerate(zip(reports, suites, strict=True)):
            show(one, asked.summary, layout, trace=trace, first=not i)
    return FINE if all(one.passed for one in reports) else FINDINGS
