"""`packbelt hint`."""

import click

from packbelt.cli.options import Source, agent_argument, complete_packs, complete_tools, with_source


@click.command("hint", epilog="Example: packbelt hint orchestrator install_skill")
@agent_argument
@click.argument("name", shell_complete=complete_tools)
@click.option("--pack", metavar="PACK", shell_complete=complete_packs, help="The pack it is looked for in.")
@with_source
def command(agent: str, name: str, pack: str | None, source: Source) -> None:
    """What AGENT is told when it calls NAME.

    Every call that the answer proposes has passed the gate. With --pack, NAME is called through the opener,
    inside that pack. Tools that Claude Code runs itself are not packbelt's to speak of, and it says so.
    """
    from packbelt.belt import hint_for
    from packbelt.cli.json_forms import hint_json
    from packbelt.cli.output import write_json
    from packbelt.cli.words import run_by_claude
    from packbelt.model import Hint, HintClass

    belt = source.turn(agent).belt
    said = "" if pack else run_by_claude(belt, name)
    hint = Hint(HintClass.UNKNOWN, f"{said}.") if said else hint_for(belt, name, pack)
    if source.json:
        write_json(hint_json(hint))
    else:
        click.echo(hint.text)
