"""`evals/*.yaml` of a workspace: suites of cases. Unknown keys are refused and nothing is coerced."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import Field

from packbelt.catalog.near import listed, suggestion
from packbelt.catalog.problems import dotted, kind_of, read_model
from packbelt.catalog.schema import FileModel, Text
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import Workspace
from packbelt.catalog.yaml import Document, Path, parse_yaml
from packbelt.evals.cases import STEPS, Case, Message, Suite, Wish
from packbelt.model import SnapshotError, Where, WorkspaceError

FOLDER = "evals"
NO_TOOL = "none"
"""What `expect` says where the right answer needs no tool."""

Steps = Annotated[int, Field(ge=1, le=64)]
Times = Annotated[int, Field(ge=1, le=32)]


class WishFile(FileModel):
    """An entry of `wishes` in its long form."""

    call: list[Text] = Field(default_factory=list)
    direct: list[Text] = Field(default_factory=list)
    guess: Text = "guess"
    look: bool = True
    times: Times = 1
    blind: bool = False
    told: bool = False
    read: Text = "read"


class AnyOfFile(FileModel):
    """`{any_of: [...]}`."""

    any_of: Annotated[list[Text], Field(min_length=1)]


class CaseFile(FileModel):
    """An entry of `cases`. What has several forms is read by hand."""

    id: Text
    agent: Text = "orchestrator"
    request: Text = "request"
    conversation: list[Any] = Field(default_factory=list)
    expect: Any
    forbid: list[Text] = Field(default_factory=list)
    tags: list[Text] = Field(default_factory=list)
    snapshot: Any = None
    wishes: list[Any] = Field(default_factory=list)
    steps: Steps = STEPS
    answers: dict[Text, str] = Field(default_factory=dict)


class SuiteFile(FileModel):
    """`evals/<id>.yaml`."""

    id: Text = "suite"
    summary: str = ""
    snapshot: Any = None
    steps: Steps = STEPS
    settle: bool = False
    cases: list[Any]


def read_suites(workspace: Workspace, now: Snapshot | None = None) -> tuple[Suite, ...]:
    """A workspace's suites, in the order of their files' names.

    Args:
        workspace: the workspace.
        now: what is connected where neither a case nor its suite says so; None for nothing.

    Raises:
        WorkspaceError: a file is not as the format says, or two suites have one id.
    """
    tree = Tree(workspace.root)
    suites: dict[str, Suite] = {}
    for path in tree.find(tree.root / FOLDER, ".yaml", ".yml").files:
        suite = parse_suite(tree.read(path), tree.name(path), workspace, tree, now)
        if other := suites.get(suite.id):
            raise WorkspaceError(
                f"two suites have the id {suite.id!r}: here and in {other.file}",
                where=Where(suite.file),
                mend="rename one of them",
                name=suite.id,
            )
        suites[suite.id] = suite
    return tuple(suites.values())


def choose(suites: Sequence[Suite], name: str | None) -> tuple[Suite, ...]:
    """The suite of a name, or all of them.

    Raises:
        WorkspaceError: there is none.
    """
    if name is None and suites:
        return tuple(suites)
    if not suites:
        mend = f"write one as {FOLDER}/<name>.yaml, or name a workspace that has some with -w DIR"
        raise WorkspaceError("this workspace has no suite of evals", mend=mend)
    found = tuple(suite for suite in suites if suite.id == name)
    if not found:
        known = [suite.id for suite in suites]
        mend = suggestion(name or "", known, otherwise=f"there are: {listed(known)}")
        raise WorkspaceError(f"no suite is called {name!r}", mend=mend, name=name or "")
    return found


def parse_suite(text: str, file: str, workspace: Workspace, tree: Tree, now: Snapshot | None = None) -> Suite:
    """One suite's file.

    Args:
        text: the file.
        file: its name in messages; the id where the file gives none.
        workspace: whose agents are asked.
        tree: where snapshot files are looked for.
        now: what is connected where the file does not say; None for nothing.

    Raises:
        WorkspaceError: it is not as the format says.
        SnapshotError: a snapshot in it, or that it names, cannot be used.
    """
    document = parse_yaml(text, file)
    model = read_model(SuiteFile, document)
    if not model.cases:
        raise WorkspaceError("`cases` is empty", where=document.where("cases"), mend="write a case")
    reader = _Reader(document, model, workspace, tree, now or Snapshot())
    cases: dict[str, Case] = {}
    for i, raw in enumerate(model.cases):
        case = reader.case(i, raw)
        if other := cases.get(case.id):
            raise WorkspaceError(
                f"case {case.id!r} stands twice, first on line {getattr(other.where(), 'line', 0)}",
                where=case.where(),
                mend="rename one of them",
                name=case.id,
            )
        cases[case.id] = case
    identity = model.id if "id" in model.model_fields_set else PurePath(file).stem
    return Suite(identity, tuple(cases.values()), " ".join(model.summary.split()), file)


class _Reader:
    """Reads the cases of one file."""

    def __init__(
        self, document: Document, suite: SuiteFile, workspace: Workspace, tree: Tree, now: Snapshot
    ) -> None:
        self.document = document
        self.suite = suite
        self.workspace = workspace
        self.tree = tree
        given = "snapshot" in suite.model_fields_set
        self.snapshot = self._snapshot(suite.snapshot, "snapshot") if given else now

    def case(self, i: int, raw: object) -> Case:
        at: Path = ("cases", i)
        model = read_model(CaseFile, self.document, at=at, data=raw)
        given = model.model_fields_set
        snapshot = self.snapshot
        if "snapshot" in given:
            snapshot = self._snapshot(model.snapshot, *at, "snapshot")
        lines = {"": self.document.where(*at), "expect": self.document.where(*at, "expect")}
        lines |= {f"forbid.{n}": self.document.where(*at, "forbid", n) for n in range(len(model.forbid))}
        return Case(
            id=model.id,
            agent=self._agent(model, at),
            conversation=self._conversation(model, at),
            expect=self._expect(model.expect, (*at, "expect")),
            forbid=tuple(model.forbid),
            tags=tuple(model.tags),
            snapshot=snapshot,
            wishes=tuple(self._wish(one, (*at, "wishes", n)) for n, one in enumerate(model.wishes)),
            steps=model.steps if "steps" in given else self.suite.steps,
            settle=self.suite.settle,
            answers=dict(model.answers),
            lines=lines,
        )

    def _agent(self, model: CaseFile, at: Path) -> str:
        if "agent" not in model.model_fields_set:
            return self.workspace.orchestrator
        known = (*self.workspace.agents, *self.workspace.broken)
        if model.agent not in known:
            mend = suggestion(model.agent, known, otherwise=f"there are: {listed(known)}")
            raise self._wrong(f"no agent is called {model.agent!r}", (*at, "agent"), mend)
        return model.agent

    def _conversation(self, model: CaseFile, at: Path) -> tuple[Message, ...]:
        given = model.model_fields_set & {"request", "conversation"}
        if len(given) != 1:
            problem = "both `request` and `conversation` are given" if given else "the case asks nothing"
            raise self._wrong(problem, at, "write either `request: text` or `conversation: [...]`")
        if "request" in given:
            return (Message("user", model.request),)
        messages = []
        for n, raw in enumerate(model.conversation):
            line = list(raw.items()) if isinstance(raw, dict) else []
            if len(line) != 1 or line[0][0] not in ("user", "assistant") or not isinstance(line[0][1], str):
                mend = "write `user: text` or `assistant: text`"
                raise self._wrong("a line of `conversation` is neither", (*at, "conversation", n), mend)
            messages.append(Message(line[0][0], line[0][1]))
        if not messages or messages[-1].role != "user":
            raise self._wrong(
                "the conversation does not end with the user", (*at, "conversation"), "end it with `user:`"
            )
        return tuple(messages)

    def _expect(self, raw: object, at: Path) -> tuple[tuple[str, ...], ...]:
        if raw == NO_TOOL:
            return ()
        if isinstance(raw, dict):
            return (self._names(raw, at),)
        if not isinstance(raw, list):
            mend = f"write the calls in order, as [setup_skills, run_skill], {{any_of: [...]}} or {NO_TOOL}"
            raise self._wrong(f"`{dotted(at)}` is {kind_of(raw)}, not a list", at, mend)
        if not raw:
            raise self._wrong(f"`{dotted(at)}` is empty", at, f"write {NO_TOOL} where no tool is right")
        return tuple(self._names(one, (*at, n)) for n, one in enumerate(raw))

    def _names(self, raw: object, at: Path) -> tuple[str, ...]:
        if isinstance(raw, str) and raw:
            return (raw,)
        if not isinstance(raw, dict):
            problem = f"`{dotted(at)}` is {kind_of(raw)}, not a name"
            raise self._wrong(problem, at, "write a tool's name, or {any_of: [...]}")
        return tuple(read_model(AnyOfFile, self.document, at=at, data=raw).any_of)

    def _wish(self, raw: object, at: Path) -> Wish:
        if isinstance(raw, str) and raw:
            return Wish((raw,))
        if isinstance(raw, list) and all(isinstance(one, str) and one for one in raw):
            return Wish(tuple(raw))
        model = read_model(WishFile, self.document, at=at, data=raw)
        given = model.model_fields_set
        return Wish(
            call=tuple(model.call),
            guess=model.guess if "guess" in given else None,
            look=model.look,
            times=model.times,
            blind=model.blind,
            told=model.told,
            read=model.read if "read" in given else None,
            direct=tuple(model.direct),
        )

    def _snapshot(self, raw: object, *at: str | int) -> Snapshot:
        where = self.document.where(*at)
        if isinstance(raw, str):
            path = self.tree.root / FOLDER / raw
            if problem := self.tree.refusal(path):
                raise problem
            return Snapshot.from_file(path)
        if not isinstance(raw, dict):
            mend = "write a snapshot, or the path of its file from evals/ on"
            raise SnapshotError(f"`{dotted(at)}` is {kind_of(raw)}, no snapshot", where=where, mend=mend)
        try:
            return Snapshot.from_data(raw)
        except SnapshotError as error:
            raise SnapshotError(error.problem, where=where, mend=error.mend, name=error.name) from None

    def _wrong(self, problem: str, at: Path, mend: str) -> WorkspaceError:
        return WorkspaceError(problem, where=self.document.where(*at), mend=mend)
