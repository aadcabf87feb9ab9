"""Rows about finding: hints for names that do not exist, and search."""

from itertools import cycle

from bench import engine
from bench.catalogue import Catalogue
from bench.clock import Case, measure
from bench.names import cases
from bench.table import Row, timed
from packbelt.belt import Belt, arguments, hint_for, schemas
from packbelt.belt import names as spelling
from packbelt.belt.search import Postings
from packbelt.catalog.forms import native_tool
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Agent, Skill, Workspace
from packbelt.model import NATIVE, Hint, Permission
from packbelt.turn import turn

QUERIES = (
    "read an invoice",
    "which permits does the harbour have",
    "get the receipt of a hotel",
    "lock a location",
    "order of a customer in the catalog",
    "look up the license of a device",
    "find policy",
    "what is in the calendar folder",
)


def _hint_world(catalogue: Catalogue) -> tuple[Workspace, Snapshot]:
    """Every tool callable, and beside them the tools that the reported names meant."""
    string = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
    texts = {"view": "Shows a file.", "get_time": "The time.", "central_get_sites": "Sites of the network."}
    extra = [native_tool(NATIVE, n, text, string, permission=Permission.READ) for n, text in texts.items()]
    more = (
        Agent("skill_setup", "Finds and installs skills.", "setup_skills", tools=()),
        Agent("skill_executor", "Runs an installed skill.", "run_skill", tools=()),
    )
    skills = (Skill("pdf", "Reads PDF.", "skills/pdf"),)
    space = engine.workspace_of(
        [*catalogue.listed, "Linear", "graph"], deny=(), extra=tuple(extra), skills=skills, more=more
    )
    now = engine.snapshot(catalogue)
    now = now.connect("Linear", [{"name": "get_team", "description": "One team.", "inputSchema": string}])
    now = now.connect("graph", [{"name": "entity_search", "description": "Entities.", "inputSchema": string}])
    return space, now


def _proposed(belt: Belt, hint: Hint) -> list[str]:
    opener = belt.registry.workspace.config.opener
    return [s.arguments.get("tool", "") if s.tool == opener else s.tool for s in hint.suggestions[:3]]


def quality(belt: Belt, asked: tuple[tuple[str, str], ...]) -> list[str]:
    """The names whose right answer is not among the first three suggestions."""
    return [name for name, meant in asked if meant not in _proposed(belt, hint_for(belt, name))]


def _forget() -> None:
    """What the process remembers of schemas and words goes; the belt keeps its own index."""
    arguments._sampled.cache_clear()  # noqa: SLF001 - to measure what it saves
    schemas._validator.cache_clear()  # noqa: SLF001 - as above


def _forget_words() -> None:
    spelling._words.cache_clear()  # noqa: SLF001 - as above
    spelling._folded.cache_clear()  # noqa: SLF001 - as above
    spelling.loose.cache_clear()


async def rows(seconds: float, catalogue: Catalogue) -> list[Row]:
    """The rows."""
    space, now = _hint_world(catalogue)
    belt = turn(space, now, engine.ROOT).belt
    thing = next(e["name"] for e in catalogue.listed["billing"]).removeprefix("get_")
    asked = cases(thing)
    names = cycle(name for name, _ in asked)
    query = cycle(QUERIES)
    tools = [tool for state in now.servers.values() for tool in state.tools]
    postings, everything = Postings(tools), (1 << len(tools)) - 1

    def after_forgetting() -> str:
        _forget()
        return next(names)

    figures = await measure(
        [
            Case("hint", lambda name: hint_for(belt, name), lambda: next(names), samples=len(asked)),
            Case("hint new", lambda name: hint_for(belt, name), after_forgetting, samples=len(asked)),
            Case(
                "hint first",
                lambda given: hint_for(given, "billing_show_account"),
                lambda: (_forget(), turn(space, engine.unread(now), engine.ROOT).belt)[1],
            ),
            Case("query", lambda text: postings.search(text, everything, 5), lambda: next(query), samples=16),
            Case("index", lambda _: Postings(tools), _forget_words),
        ],
        seconds,
    )
    missed = quality(belt, asked)
    size = f"{len(tools):,}"
    note = f"median over {len(asked)} names"
    fresh = "the proposed tools' schemas never looked at before"
    built = "index over names and routes included"
    return [
        timed(f"hint for an unknown name among {size}", figures["hint"], "ms", 1.0, note=note),
        timed("hint, its tools proposed for the first time", figures["hint new"], "ms", 1.0, note=fresh),
        timed("hint, first of a belt", figures["hint first"], "ms", note=built),
        Row(
            "hint, right tool among the first three",
            len(asked) - len(missed),
            f"of {len(asked)}",
            len(asked),
            least=True,
            note=f"not: {', '.join(missed)}" if missed else "",
        ),
        timed(f"tool search over {size}, a query", figures["query"], "ms", 0.5),
        timed(f"tool search over {size}, the index", figures["index"], "ms", 60.0),
    ]
