"""The Berkeley Function Calling Leaderboard, version 4, as a workspace with a suite.

    pip download --no-deps bfcl-eval==2026.3.23 && unzip -q bfcl_eval-*.whl
    python -m packbelt.evals.public.bfcl bfcl_eval/data --out bfcl
    packbelt eval -w bfcl --model lexical --layout all

BFCL asks each question with a few functions of its own. What a fleet has is one belt for all, so that the
functions of `live_multiple` become the tools of servers that are all connected, and each of its questions has
one expected tool among them. The questions of `irrelevance` have none. BFCL is under Apache-2.0; nothing of
it is a part of packbelt.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from packbelt.catalog.snapshot import Snapshot
from packbelt.evals.public.schemas import mended
from packbelt.model import PackbeltError

QUESTIONS, ANSWERS, NO_TOOL = (
    "BFCL_v4_live_multiple.json",
    "possible_answer/BFCL_v4_live_multiple.json",
    "BFCL_v4_irrelevance.json",
)
TOOLS, NONE = 100, 60
"""Tools that the belt has at least, and questions without a tool, where nothing is said."""
_VERSIONED = re.compile(r"([A-Za-z]+)_(\d+)_(\w+)")
_NOTICE = """\
Made from the Berkeley Function Calling Leaderboard v4 (bfcl-eval), Apache-2.0, of the Gorilla project:
{questions} (`evals/bfcl.yaml` keeps their ids) and {none}.
Changed: functions are tools of servers, `.` in a name is `_`, types are those of JSON Schema, one schema is
kept where a name has several, a server's instructions are its tools' names, and arguments are not compared.
"""
_AGENT = """\
---
name: orchestrator
description: Answers requests with the tools it has.
---
You answer requests, with a tool where one serves. Where none does, you say so.

{{ sections.connected_mcp_servers }}
"""
_CONFIG = """\
orchestrator: orchestrator
servers:
  "*": {access: open, exposure: packed}     # each server is a pack; --layout flat sends every tool
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a function is as a tool.

    Attributes:
        server: the server.
        tool: its name there.
        kin: what it shares with the same function of another version of its service.
    """

    server: str
    tool: str
    kin: str


def place_of(function: str, group: str) -> Place:
    """A function's place: what stands before its dot is its server, or the service with its version.

    Args:
        function: its name.
        group: of the question in which it stands first, for names that say nothing of a service.
    """
    if found := _VERSIONED.fullmatch(function):
        service, version, name = found.groups()
        return Place(f"{service}_{version}", name, f"{service}/{name}")
    service, dot, name = function.partition(".")
    name = name.replace(".", "_")
    return Place(service, name, f"{service}/{name}") if dot else Place(f"set_{group}", function, function)


def workspace_of(data: Path, tools: int = TOOLS, none: int = NONE, *, mute: bool = False) -> dict[str, str]:
    """The files of a workspace, by their paths.

    Args:
        data: BFCL's `data` directory.
        tools: at least as many tools: the most asked-for servers are taken, each as a whole.
        none: as many questions for which no tool is right.
        mute: servers say nothing of themselves; else each says the names of its tools.

    Raises:
        PackbeltError: this is not that directory.
    """
    rows, answers = _rows(data / QUESTIONS), {row["id"]: row["ground_truth"] for row in _rows(data / ANSWERS)}
    places: dict[str, Place] = {}
    functions: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        for one in row["function"]:
            places.setdefault(one["name"], place_of(one["name"], row["id"].split("-")[1]))
            functions.setdefault(one["name"], one)
    wanted = {row["id"]: next(iter(answers[row["id"]][0])) for row in rows}
    servers = _most_asked(wanted.values(), places, tools)
    belt = {name: place for name, place in places.items() if place.server in servers}
    kin: defaultdict[str, list[str]] = defaultdict(list)
    for place in belt.values():
        kin[place.kin].append(f"{place.server}/{place.tool}")
    asked = [row for row in rows if wanted[row["id"]] in belt]
    cases = [_case(row, kin[belt[wanted[row["id"]]].kin]) for row in asked]
    without = [_case(row, ()) for row in _spread(_rows(data / NO_TOOL), none)]
    suite = {
        "summary": f"Of BFCL v4 (live_multiple, irrelevance): one tool of {len(belt)}, or none.",
        "snapshot": "bfcl-tools.json",
        "steps": 4,
        "cases": [*cases, *without],
    }
    notice = _NOTICE.format(questions=f"{len(cases)} of {QUESTIONS}", none=f"{len(without)} of {NO_TOOL}")
    return {
        "packbelt.yaml": _CONFIG,
        "prompts/agents/orchestrator.md": _AGENT,
        "NOTICE.md": notice,
        "evals/bfcl.yaml": yaml.safe_dump(suite, sort_keys=False, allow_unicode=True, width=110),
        "evals/bfcl-tools.json": json.dumps(_snapshot(belt, functions, mute=mute), indent=1) + "\n",
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    """A file of JSON lines."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        mend = "name the directory bfcl_eval/data of the package bfcl-eval"
        raise PackbeltError(f"{path} is no file of BFCL v4", mend=mend) from None


def _most_asked(wanted: Iterable[str], places: Mapping[str, Place], tools: int) -> set[str]:
    sizes = Counter(place.server for place in places.values())
    asked = Counter(dict.fromkeys(sizes, 0))
    asked.update(places[name].server for name in wanted)
    found: set[str] = set()
    for server, _ in asked.most_common():
        if sum(sizes[one] for one in found) >= tools:
            break
        found.add(server)
    return found


def _case(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    said = "\n\n".join(line["content"] for line in row["question"][0])
    expect: Any = "none"
    if names:
        expect = [names[0]] if len(names) == 1 else {"any_of": list(names)}
    return {"id": row["id"], "request": said, "expect": expect, "tags": ["bfcl" if names else "no_tool"]}


def _spread(rows: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """So many of the rows, at equal distances."""
    count = min(count, len(rows))
    return [rows[i * len(rows) // count] for i in range(count)]


def _snapshot(
    belt: Mapping[str, Place], functions: Mapping[str, Mapping[str, Any]], *, mute: bool
) -> dict[str, Any]:
    listed: defaultdict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for name, place in belt.items():
        schema = mended(functions[name]["parameters"])
        tool = {"name": place.tool, "description": functions[name]["description"], "inputSchema": schema}
        listed[place.server].setdefault(place.tool, tool)
    now = Snapshot()
    for server, tools in listed.items():
        said = None if mute else ", ".join(tools)
        now = now.connect(server, tools.values(), instructions=said)
    return now.to_data()


@click.command(epilog="Example: python -m packbelt.evals.public.bfcl bfcl_eval/data --out bfcl")
@click.argument("data", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A directory that is made.")
@click.option("--tools", default=TOOLS, show_default=True, type=click.IntRange(1), help="Tools at least.")
@click.option(
    "--none", default=NONE, show_default=True, type=click.IntRange(0), help="Questions without a tool."
)
@click.option("--mute", is_flag=True, help="Servers do not say the names of their tools.")
def main(*, data: Path, out: Path, tools: int, none: int, mute: bool) -> None:
    """BFCL v4 from DATA, the directory bfcl_eval/data of the package bfcl-eval, as a workspace."""
    try:
        files = workspace_of(data, tools, none, mute=mute)
        out.mkdir(parents=True)
    except FileExistsError:
        raise click.UsageError(f"{out} is there already; name a new directory") from None
    except PackbeltError as error:
        raise click.UsageError(str(error)) from None
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    click.echo(f"packbelt eval -w {out} --model lexical --layout all")


if __name__ == "__main__":
    main()
