"""`packbelt explain`."""

from typing import TYPE_CHECKING

import click

from packbelt.cli.options import Source, agent_argument, complete_tools, with_source

if TYPE_CHECKING:
    from packbelt.belt import Belt


@click.command("explain", epilog="Example: packbelt explain orchestrator mcp_registry_search")
@agent_argument
@click.argument("tool", shell_complete=complete_tools)
@with_source
def command(agent: str, tool: str, source: Source) -> None:
    """Why TOOL is or is not on AGENT's belt: each rule in order, its file and line, and the routes.

    TOOL is a wire name, an identity (github/search, native:shell), or a plain name that only one tool has.
    """
    belt = source.turn(agent).belt
    entry = belt.find(tool)
    if entry is None:
        from packbelt.cli.words import run_by_claude

        if said := run_by_claude(belt, tool):
            _others(belt, tool, said, as_json=source.json)
        else:
            _unknown(belt, tool, as_json=source.json)
    elif source.json:
        from packbelt.cli.json_forms import element_json
        from packbelt.cli.output import write_json

        write_json(element_json(entry))
    else:
        from packbelt.cli.explain_text import show

        show(belt, entry)


def _others(belt: "Belt", name: str, said: str, *, as_json: bool) -> None:
    """A tool that the agent's own host runs: what packbelt knows of it is whether the file names it."""
    from packbelt.cli.json_forms import unknown_json
    from packbelt.cli.output import say, write_json

    if as_json:
        write_json(unknown_json(name, said))
        return
    agent = belt.subject.agent
    say((name, "title"), said.removeprefix(name))
    for key, listed in (("tools", agent.tools or ()), ("disallowedTools", agent.disallowed_tools)):
        for one in listed:
            if one.text == name:
                say((f"  {agent.name}'s `{key}` names it, {one.where}", "dim"))


def _unknown(belt: "Belt", tool: str, *, as_json: bool) -> None:
    """A name that nothing has: state `unknown` where a program asked, and an error in any case.

    Raises:
        PackbeltError: always; it names what is near, whether or not the agent can reach it.
    """
    from packbelt.belt import hint_for
    from packbelt.belt.names import near
    from packbelt.cli.json_forms import unknown_json
    from packbelt.cli.output import say, write_json
    from packbelt.cli.words import CONNECT, not_connected
    from packbelt.model import PackbeltError
    from packbelt.model.text import quoted

    if as_json:
        write_json(unknown_json(tool))
    else:
        say(f"{quoted(tool)} is unknown. An agent that calls it is told:")
        say(f"  {hint_for(belt, tool).text}")
    names = near(tool, list(belt))
    listed = f"packbelt dump {belt.agent} --all lists the tools there are"
    mend = f"near it: {', '.join(names)}" if names else listed
    dark = not_connected(belt.registry, belt.registry.servers)
    if dark:
        mend += f"; those of {', '.join(dark)} are not known before {CONNECT}"
    raise PackbeltError(f"no tool is called {quoted(tool)}", mend=mend, name=tool)
