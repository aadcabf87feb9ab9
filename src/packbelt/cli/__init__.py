"""The command line: thin. Each command's module is imported when that command is asked for.

Exit codes: 0 fine, 1 findings, 2 bad input, with one line on standard error that says what and where.
"""

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from packbelt._version import __version__
from packbelt.cli.failure import PipeClosedError, guarded

COMMANDS: dict[str, str] = {
    "init": "A small workspace to begin with.",
    "import": "Other clients' agents, servers and rules into a workspace.",
    "dump": "The belt and its token cost: what is sent, put away and withheld.",
    "explain": "Why a tool is or is not on a belt, rule by rule, and its routes.",
    "hint": "What an agent is told when it calls a name.",
    "prompt": "An agent's prompt, with its sections.",
    "compile": "A belt in an SDK's own form, and what stays unenforced there.",
    "check": "All laws and lints on this workspace.",
    "eval": "Whether requests reach the right hand-off, played through the engine.",
    "report": "The whole workspace on one page: states, reasons, cost, prompts.",
    "diff": "What a change does to every belt: gained, lost, moved, and the cost.",
    "plan": "Which tools to send or put away, by how often they are called.",
    "connect": "Start the configured servers, show what they offer, save it.",
    "call": "Make one call as an agent would, through the gate and the relay.",
    "serve": "An agent's belt as an MCP server, on stdio or HTTP.",
}
"""Name and one line of each command, so that `--help` imports none of them; its module has the same name,
with a `_` after a word that Python keeps for itself."""

_HELP = """Which tools each agent sees, how it reaches the rest, and what it is told.

\b
packbelt dump                          every agent's belt, in one table
packbelt dump orchestrator             one belt, with what it costs
packbelt explain orchestrator TOOL     why a tool is or is not on it
"""
_EPILOG = """\b
The workspace is the nearest directory upwards with packbelt.yaml, .mcp.json,
.claude/agents, or packs/ beside prompts/agents/. Exit codes: 0 fine,
1 findings, 2 bad input.

\b
Shell completion, for bash (or zsh_source, fish_source):
  eval "$(_PACKBELT_COMPLETE=bash_source packbelt)"
"""


class Commands(click.Group):
    """The commands, imported on demand, and what becomes of their errors."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module
        from keyword import iskeyword

        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"packbelt.cli.{module}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments begin with.

        Raises:
            click.UsageError: there is no such command.
        """
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from packbelt.catalog.near import suggestion

            mend = suggestion(name, COMMANDS, otherwise=f"there are: {', '.join(COMMANDS)}")
            raise click.UsageError(f"no command is called {name!r}; {mend}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, from the static lines."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a closed pipe is told apart before click takes it for a failure."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise PipeClosedError from None
        return result

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run; errors become one line and an exit code."""
        run = super().main
        code = guarded(lambda: run(args, prog_name, complete_var, standalone_mode=False, **extra))
        if standalone_mode:
            sys.exit(code)
        return code


@click.group(
    "packbelt",
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=_HELP,
    epilog=_EPILOG,
)
@click.version_option(__version__, "-V", "--version", prog_name="packbelt", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """The group of all commands; alone it shows its help."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """The script `packbelt`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what the terminal's encoding has no letter for is escaped
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="packbelt")
    raise AssertionError  # click exits
