"""`packbelt eval`: what is asked for, then `eval_run`, then what shows it."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from packbelt.cli.eval_options import Judging, with_judging
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


@click.command("eval", epilog="Example: packbelt eval seed --model scripted --model bot:raw --layout all")
@click.argument("suite", required=False, shell_complete=complete_suites)
@click.option(
    "--model",
    "models",
    default=("scripted",),
    show_default="scripted",
    multiple=True,
    metavar="NAME",
    help="scripted, lexical, bot:NAME with raw, guess, web, loop or disobedient, replay:FILE, local:NAME or "
    "local:FILE.gguf (local-names: for names alone), or a live one: openai/MODEL (Chat Completions) or "
    "anthropic/MODEL.",
)
@click.option(
    "--layout",
    "layouts",
    default=("promoted",),
    show_default="promoted",
    multiple=True,
    type=click.Choice(("promoted", "packed", "flat", "all")),
    help="As the files say; hand-offs put away beside tools open to all; nothing put away; or each of them.",
)
@click.option(
    "--repeat",
    "repeats",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Play each case so often.",
)
@click.option(
    "--mutate",
    "mutations",
    multiple=True,
    metavar="NAME",
    help="Break the belt on purpose: null, repack-handoffs, open-raw-tools, direct-first, static-sections, "
    "permission-before-existence, no-routing-rows, no-hints, repack:HANDOFF; or all, for a score of what the "
    "suite notices.",
)
@click.option(
    "--results",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Keep each play in FILE as it ends. What FILE holds already is not played again.",
)
@click.option(
    "--jobs",
    default=4,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Cases at a time, of a model that waits on a network.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE",
    help="Write the model's replies, for --model replay:FILE.",
)
@click.option("--base-url", metavar="URL", help="Where live models are asked; else their provider.")
@click.option("--temperature", type=click.FloatRange(0), metavar="T", help="Of live models.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Of one reply of a live model.")
@click.option(
    "--max-connections",
    default=4,
    show_default=True,
    type=click.IntRange(1),
    metavar="N",
    help="Requests to an endpoint at a time.",
)
@click.option(
    "--executor",
    default="local",
    show_default=True,
    type=click.Choice(("local", "ray")),
    help="Play here, or on the Ray cluster of RAY_ADDRESS; without one it is this machine.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Workers on the cluster. Default: one on each CPU.",
)
@click.option("--trace", is_flag=True, help="Show each call, and what the model was told.")
@with_judging
@with_source
def command(
    *,
    suite: str | None,
    models: tuple[str, ...],
    layouts: tuple[str, ...],
    repeats: int,
    mutations: tuple[str, ...],
    results: Path | None,
    jobs: int,
    record: Path | None,
    base_url: str | None,
    temperature: float | None,
    max_tokens: int | None,
    max_connections: int,
    executor: str,
    workers: int | None,
    trace: bool,
    judging: Judging,
    source: Source,
) -> int:
    """Whether requests reach the right hand-off: the cases of SUITE, or of all suites in evals/.

    Each case is played turn by turn through the engine: the belt, its form, the gate and the relay. Nothing
    is started and no tool runs: tools, servers and the agents that are handed to answer what the case has
    them say. `scripted` follows each case's wishes as far as what it is shown allows; a bot has one bad
    habit; `lexical` compares words, and a case that it gets says little. `replay` says what was recorded;
    where it is asked something else, that is an error of the eval. `local` is a GGUF model in this
    process, with packbelt[local]; `local-names` chooses names alone. Only a live model is asked over a
    network; its key is read from the environment.

    --model, --layout and --mutate can be given several times: every case is played under each combination.
    With `--mutate all` a case notices a breakage if it passes without it and fails with it.

    Exits 1 if a request did not get where it belongs; with `--mutate all`, if a breakage was not noticed or
    something fails without one. --fail-on names other grounds. --snapshot counts for the cases that say
    nothing of what is connected; --json holds the whole traces.
    """
    from packbelt.cli.eval_judgement import judge, old_side
    from packbelt.cli.eval_run import Asked, play
    from packbelt.cli.eval_show import show
    from packbelt.evals import Endpoint, Sampling
    from packbelt.live.foreground import unwound

    asked = Asked(
        suite=suite,
        models=models,
        layouts=layouts,
        mutations=mutations,
        repeats=repeats,
        results=results,
        record=record,
        jobs=jobs,
        sampling=Sampling(temperature, max_tokens),
        endpoint=Endpoint(base_url, max_connections),
        executor=executor,
        workers=workers,
    )
    with unwound(), old_side(judging, source) as old:
        done = play(asked, source)
        judged = judge(judging, done, old, source)
    return show(done, judged, trace=trace, as_json=source.json)
