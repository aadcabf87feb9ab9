"""Write docs/commands.md from the commands' own help: `uv run python docs/generate_commands.py`."""  # noqa: INP001 - a script

from pathlib import Path

import click

from packbelt.cli import COMMANDS, cli

PAGE = Path(__file__).with_name("commands.md")
_WIDTH = 88
_HELP_OPTIONS = cli.context_settings["help_option_names"]

_HEAD = """# Commands

Written by `docs/generate_commands.py` from `--help`; a test keeps it so.

Every command takes `-w/--workspace DIR`, `--snapshot FILE` and `--json`. Exit codes: 0 fine, 1 findings
(a check that found errors, a failed eval, a difference that `--fail-on` names, a server that failed), 2 bad
input, with one line on standard error that says what is wrong, where, and the mend. What else of the
workspace did not load is said on standard error too, whatever the command. On a terminal there is colour,
which `NO_COLOR=1` takes away; in a pipe there is plain text.

`PACKBELT_SNAPSHOT` names a snapshot where no `--snapshot` does; `connect`, `call` and `serve` do not read it.

Only `connect`, `call` and `serve` start anything; `diff` and `eval --compare` ask git for a revision. Only
`init`, `import`, `dump --out`, `report --html`, `plan --write`, `eval` where it is given a file to write,
`connect --save` and `connect --lock` write, and the answer "always" to the question of `connect` and
`call`, which is remembered in the user's trust file
(`connect --help` says where that is); `--events` appends to its file, and `serve` keeps runs and makes a file
of tokens where it is asked to.

Shell completion of commands, agents, tools, packs and servers, for the start-up file of the shell:

    eval "$(_PACKBELT_COMPLETE=bash_source packbelt)"      # bash; zsh_source for zsh
    _PACKBELT_COMPLETE=fish_source packbelt | source       # fish
"""


def page() -> str:
    """The whole page."""
    root = click.Context(cli, info_name="packbelt", terminal_width=_WIDTH, help_option_names=_HELP_OPTIONS)
    parts = [_HEAD, _part("packbelt", cli.get_help(root))]
    for name in COMMANDS:
        command = cli.get_command(root, name)
        if command is None:
            raise LookupError(name)
        context = click.Context(command, info_name=name, parent=root, terminal_width=_WIDTH)
        parts.append(_part(f"packbelt {name}", command.get_help(context)))
    return "\n".join(parts)


def _part(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
