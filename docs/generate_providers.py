"""Write docs/providers.md from the descriptors of the targets: `uv run python docs/generate_providers.py`."""  # noqa: INP001 - a script

from collections.abc import Iterable, Mapping
from pathlib import Path

from packbelt.providers import TARGETS, Axis, Cell, Target, target

PAGE = Path(__file__).with_name("providers.md")

USE = {
    "anthropic": """\
turn = await agent.turn()
form = turn.compile("anthropic")                # search=True: its own tool search; cache=True: cache marks
reply = await client.messages.create(model=MODEL, max_tokens=4096, messages=messages, **form.kwargs)
messages.append({"role": "assistant", "content": reply.content})
messages.append(form.results(await turn.run(form.calls(reply))))
""",
    "openai": """\
turn = await agent.turn()
form = turn.compile("openai")                   # search=True: namespaces with its own tool search
reply = await client.responses.create(model=MODEL, input=messages, **form.kwargs)
messages += reply.output
messages += form.results(await turn.run(form.calls(reply)))
""",
    "openai-chat": """\
turn = await agent.turn()
form = turn.compile("openai-chat")
history = [{"role": "system", "content": form.system}, *messages]
reply = await client.chat.completions.create(model=MODEL, messages=history, **form.kwargs)
messages += [reply.choices[0].message, *form.results(await turn.run(form.calls(reply)))]
""",
    "gemini": """\
turn = await agent.turn()
form = turn.compile("gemini")
reply = await client.models.generate_content(model=MODEL, contents=messages, **form.kwargs)
messages.append(reply.candidates[0].content)
messages.append(form.results(await turn.run(form.calls(reply))))
""",
    "claude-agent-sdk": """\
from packbelt.adapters.claude_agent_sdk import Belt
options = await Belt(agent).options(ClaudeAgentOptions(max_turns=20))
async with ClaudeSDKClient(options) as client:
    await client.query(request)
""",
    "openai-agents": """\
from packbelt.adapters.openai_agents import Belt
belt = Belt(agent)
result = await Runner.run(belt.agent(model=MODEL), request, run_config=belt.run_config())
""",
    "pydantic-ai": """\
from packbelt.adapters.pydantic_ai import Belt
result = await Agent(MODEL, capabilities=[Belt(agent)]).run(request)
""",
    "langchain": """\
from packbelt.adapters.langchain import Belt
graph = create_agent(MODEL, middleware=[Belt(agent)])       # last, after your own middleware
state = await graph.ainvoke({"messages": [{"role": "user", "content": request}]})
""",
    "copilot": """\
from packbelt.adapters.copilot import Belt
session = await client.create_session(**await Belt(agent).options(model=MODEL))
""",
    "mcp": """\
form = turn.compile("mcp", shown_as="packbelt")             # what `packbelt serve --as packbelt` lists
async with Client(server) as client:
    form.enforcement.verify(tool.name for tool in (await client.list_tools()).tools)
""",
}
"""How each target is used, in five lines at most; `agent` is at work, and `turn` is one of its turns."""

EXAMPLES = {"openai-chat": "openai"}
"""Where a target's examples are, if not under its own name."""
NAMES = {axis: str(axis).replace("_", "-") for axis in Axis}

_HEAD = """# Providers: a belt in each SDK's own form

Written by `docs/generate_providers.py` from the descriptors of the targets. A test keeps it so, and another
one sees to it that no claim stands here without a test that proves it.

`turn.compile(TARGET)` gives a belt in a target's own form: tools, system text and names agree, because all
are read off one decision. The bare APIs take `form.kwargs`; for the agent SDKs `packbelt.adapters` has the
objects. What a target does with tools differs, and is never one yes or no, so each form says it axis by axis
(`form.enforcement`): what the target itself does, what packbelt adds, and what stays open with both.

{questions}
```console
$ packbelt compile orchestrator --for openai   # the form as JSON; on a terminal, what stays open there
$ packbelt compile --matrix                    # every target against every axis, for this workspace
```

`form.enforcement.verify(names)` compares the plan with what a target says that it has (the first request,
Claude's `init.tools`, `list_tools`), and raises on a difference. A tool that cannot be said in a target's
form refuses the whole, by one line that names both sides; with `strict=False` (`--allow-missing`) it alone is
left out.

SDKs are extras, one each: `pip install 'packbelt[langchain]'`. Every adapter has `Belt(agent)`, `runner(...)`
for `packbelt.open(run=...)`, and `wrap(tools)`, which makes the tools that you have native ones: they keep
their form, are executed as they are, and pass the gate.

## All targets

`target`: the target itself sees to it. `guard`: packbelt does. `open`: something stays open, which the
target's own table says.

"""


def page() -> str:
    """The whole page."""
    found = [target(name) for name in TARGETS]
    questions = "".join(f"- **{NAMES[axis]}**: {axis.question}\n" for axis in Axis)
    head = ("target", *(NAMES[axis] for axis in Axis), "proved on")
    rows = ((_link(one), *(_mark(one.enforcement[axis]) for axis in Axis), _proof(one)) for one in found)
    return "\n".join([_HEAD.format(questions=questions) + _table(head, rows), *map(_part, found)])


def _part(one: Target) -> str:
    """One target's section."""
    where = EXAMPLES.get(one.name, one.name)
    parts = [
        f"## {one.title}\n",
        f"`{one.name}`, proved on {_proof(one)}. {_limits(one)} Examples: [{where}](how-to/{where}.md).\n",
        f"```python\n{USE[one.name]}```\n",
        _cells(one.enforcement),
    ]
    for way, cells in one.ways.items():
        parts += [f"With `way={way!r}`:\n", _cells(cells)]
    return "\n".join(parts)


def _limits(one: Target) -> str:
    """What it takes, in sentences."""
    said = [f"Names: `{one.names.pattern.pattern}`."]
    if one.most_tools:
        said.append(f"At most {one.most_tools} tools.")
    if one.longest_description:
        said.append(f"Descriptions are cut after {one.longest_description:,} letters.")
    said.append("Packs: its own tool search, or the opener." if one.search else "Packs: the opener.")
    if one.builtins:
        said.append(
            f"Tools of its own that are decided like any other: {', '.join(b.name for b in one.builtins)}."
        )
    return " ".join(said)


def _cells(cells: Mapping[Axis, Cell]) -> str:
    rows = ((NAMES[axis], cells[axis].target, cells[axis].guard, cells[axis].open) for axis in Axis)
    return _table(("axis", "the target itself", "packbelt adds", "stays open"), rows)


def _mark(cell: Cell) -> str:
    return "open" if cell.open else "guard" if cell.guard else "target"


def _proof(one: Target) -> str:
    return f"{one.package} {one.proved_on}"


def _link(one: Target) -> str:
    return f"[{one.name}](#{one.title.lower().replace(' ', '-')})"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(head), *map(tuple, rows)]
    lines.insert(1, ("---",) * len(lines[0]))
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
