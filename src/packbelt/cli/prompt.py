"""`packbelt prompt`."""

import click

from packbelt.cli.options import Source, agent_argument, with_source


@click.command("prompt", epilog="Example: packbelt prompt orchestrator > system.md")
@agent_argument
@with_source
def command(agent: str, source: Source) -> None:
    """AGENT's prompt as it is sent, with the sections that the belt gives it."""
    from packbelt.cli.loaded import refuse_broken_sections

    turn = source.turn(agent)
    refuse_broken_sections(turn)
    if source.json:
        from packbelt.cli.output import write_json

        write_json({"agent": turn.agent, "prompt": turn.prompt, "sections": dict(turn.sections)})
    else:
        from packbelt.cli.output import printable

        click.echo(printable(turn.prompt), nl=not turn.prompt.endswith("\n"))
