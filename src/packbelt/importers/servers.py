"""One server's entry of any client as an entry of `.mcp.json`, or the reason why it cannot be one.

Each client's reader brings its entry into the keys of `.mcp.json`; the catalogue's own reader decides whether
the result can be used, and names the keys that nobody reads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from pathlib import PureWindowsPath
from typing import Any

from packbelt.catalog.problems import kind_of
from packbelt.catalog.servers import parse_entry
from packbelt.catalog.yaml import Document, Path
from packbelt.importers.report import Item, Kind, Outcome, Remark, outcome_of, reason_of, remark_of
from packbelt.importers.secrets import secrets_of, token_like
from packbelt.importers.sources import Source
from packbelt.importers.values import Places, Values, Variables, spelt, variable_name
from packbelt.model import Code, Diagnostic, Origin, PackbeltError, Where, WorkspaceError

KEPT = ("type", "command", "args", "env", "cwd", "url", "headers", "required", "disabled")
"""Keys of an entry that are written."""


@dataclass(frozen=True, slots=True)
class Context:
    """What an import goes by.

    Attributes:
        path: the path that is imported; files are named from it.
        target: the workspace that is written.
        home: the home directory, for placeholders that mean it.
        variables: names for values that are not copied.
    """

    path: FilePath
    target: FilePath
    home: FilePath
    variables: Variables = field(default_factory=Variables)


@dataclass(slots=True)
class Found:
    """A server as a client's file has it.

    Attributes:
        name: its name.
        raw: its entry, in the keys of `.mcp.json`; what the client's reader does not know stays.
        document: the file.
        path: the entry's path in it.
        source: where the file was found.
        dialect: how placeholders are written there; see `Values`.
        remarks: what its reader has to say.
        allow: the only tools that the client offers of it; None for all.
        deny: tools that the client does not offer.
        ask: whether a person is asked before each call; None where the file does not say.
        exempt: tools that are an exception to that.
        asked: tools of which a person is asked in any case.
        references: variables that the file names outside its values: `env` and `headers` with the name of
            the variable for each, `bearer` for a header that holds a token.
        problem: why it cannot be used, where its reader knows already.
    """

    name: str
    raw: Any
    document: Document
    path: Path
    source: Source
    dialect: str = "usual"
    remarks: list[Remark] = field(default_factory=list)
    allow: list[str] | None = None
    deny: list[str] = field(default_factory=list)
    ask: bool | None = None
    exempt: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    references: dict[str, dict[str, str]] = field(default_factory=dict)
    problem: WorkspaceError | None = None

    def where(self, *keys: str | int) -> Where:
        """The place of the entry, or of a key in it."""
        return self.document.where(*self.path, *keys)

    def note(self, outcome: Outcome, message: str, *keys: str | int, mend: str = "") -> None:
        """Add a remark."""
        self.remarks.append(Remark(outcome, f"server {self.name!r} {message}", self.where(*keys), mend))

    def refuse(self, message: str, *keys: str | int, mend: str = "") -> None:
        """Make it unusable; the others go on."""
        said = f"server {self.name!r} {message}"
        self.problem = self.problem or WorkspaceError(
            said, where=self.where(*keys), mend=mend, name=self.name
        )

    def item(self, outcome: Outcome, became: str = "", more: tuple[Remark, ...] = ()) -> Item:
        """What became of it."""
        source = self.source
        remarks = (*more, *self.remarks)
        return Item(
            Kind.SERVER, self.name, outcome, self.where(), source.client, source.scope, became, remarks
        )


@dataclass(frozen=True, slots=True)
class Accepted:
    """A server that can be written.

    Attributes:
        found: what was read.
        entry: its entry of `.mcp.json`.
    """

    found: Found
    entry: dict[str, Any]


def accept(found: Found, context: Context) -> Accepted | Item:
    """The entry as it is written, or the item that says why it is refused."""
    try:
        if found.problem:
            raise found.problem
        _switch(found)
        entry = _written(found, context)
        diagnostics: list[Diagnostic] = []
        parse_entry(found.name, entry, found.document, found.path, diagnostics)
    except PackbeltError as problem:
        placed = problem if problem.where else _placed(problem, found)
        return found.item(Outcome.REFUSED, more=(reason_of(placed),))
    found.remarks += (remark_of(one) for one in diagnostics if one.code is not Code.SERVER_IGNORED)
    if isinstance(entry, Mapping) and (entry.get("disabled") is True or entry.get("enabled") is False):
        entry = {**entry, "disabled": True}
    return Accepted(found, {key: entry[key] for key in KEPT if key in entry})


def _switch(found: Found) -> None:
    for key in ("disabled", "enabled"):
        held = found.raw.get(key) if isinstance(found.raw, Mapping) else None
        if held is not None and not isinstance(held, bool):
            raise WorkspaceError(
                f"server {found.name!r} has a `{key}` that is {kind_of(held)}",
                where=found.where(key),
                mend="write true or false",
                name=found.name,
            )


def _placed(problem: PackbeltError, found: Found) -> WorkspaceError:
    return WorkspaceError(problem.problem, where=found.where(), mend=problem.mend, name=problem.name)


def _written(found: Found, context: Context) -> Any:
    raw = found.raw
    if not isinstance(raw, Mapping):
        return raw
    source = found.source
    plugin = source.home if source.scope is Origin.PLUGIN else None
    values = Values(
        found.name, Places(_project(source, context), context.home, plugin), context.variables, found.dialect
    )
    entry = _translated(found, dict(raw), values)
    for key, named in found.references.items():
        place, lead = ("headers", "Bearer ") if key == "bearer" else (key, "")
        held = entry[place] if isinstance(entry.get(place), Mapping) else {}
        more = {
            one: lead + values.refer(name if token_like(name) else variable_name(name))
            for one, name in named.items()
        }
        entry[place] = {**held, **more}
    _report(found, values)
    _directory(found, entry, context.target)
    return entry


def _project(source: Source, context: Context) -> FilePath:
    """The project that an editor's placeholder means: for a person's own file, whatever is open in it."""
    return context.target if source.scope is Origin.USER else source.home.resolve()


def _translated(found: Found, entry: dict[str, Any], values: Values) -> dict[str, Any]:
    """The entry with placeholders in packbelt's form, and without secrets."""
    for key in ("command", "cwd"):
        if isinstance(entry.get(key), str):
            entry[key] = values.translated(entry[key])
            _no_reference(found, key, entry[key])
            _no_secret(found, key, entry[key])
    if isinstance(entry.get("url"), str):
        entry["url"] = values.url(values.translated(entry["url"]))
    if isinstance(entry.get("args"), list):
        words = [values.translated(word) if isinstance(word, str) else word for word in entry["args"]]
        entry["args"] = values.arguments(words)
    for key, hide in (("env", values.variable), ("headers", values.header)):
        if isinstance(entry.get(key), Mapping):
            entry[key] = {name: _held(name, part, values, hide) for name, part in entry[key].items()}
    return entry


def _held(name: str, part: Any, values: Values, hide: Callable[[str, str], str]) -> Any:
    """A value of `env` or `headers`; a number stays one, unless it is a secret."""
    text = spelt(part)
    if text is None:
        return part
    done = hide(name, values.translated(text))
    return part if done == text else done


def _report(found: Found, values: Values) -> None:
    if values.hidden:
        names = ", ".join(dict.fromkeys(values.hidden))
        found.note(
            Outcome.APPROXIMATED,
            f"has what looks like a secret in clear, which is not copied: {names}",
            mend="set the variable before `packbelt connect`; if it is none, write it back into .mcp.json",
        )
    if values.resolved:
        names = ", ".join(dict.fromkeys(values.resolved))
        found.note(Outcome.APPROXIMATED, f"has {names} written out, as it is on this machine")


def _no_reference(found: Found, key: str, text: str) -> None:
    if "${" in text.replace("$${", ""):
        raise WorkspaceError(
            f"server {found.name!r} has a placeholder in `{key}`, where none is filled in",
            where=found.where(key),
            mend=f"write the `{key}` out",
            name=found.name,
        )


def _no_secret(found: Found, key: str, text: str) -> None:
    if secrets_of(text):
        raise WorkspaceError(
            f"server {found.name!r} has what looks like a secret in `{key}`, where no variable is filled in",
            where=found.where(key),
            mend="pass it in `env`",
            name=found.name,
        )


def _directory(found: Found, entry: dict[str, Any], target: FilePath) -> None:
    """A server of a project runs in the project, also where the workspace lies elsewhere."""
    base = found.source.home.resolve()
    if found.source.scope is Origin.USER or base == target or "command" not in entry:
        return
    cwd = entry.get("cwd")
    if isinstance(cwd, str) and PureWindowsPath(cwd).drive:
        return  # whole, on another kind of machine
    if isinstance(cwd, str) and cwd and not cwd.startswith(("/", "~")):
        entry["cwd"] = str(base / cwd)
        found.note(Outcome.APPROXIMATED, f"runs in {entry['cwd']}, as it did in its project", "cwd")
    elif cwd is None and any(
        _is_there(base, word) for word in (entry["command"], *_words(entry.get("args")))
    ):
        entry["cwd"] = str(base)
        found.note(Outcome.APPROXIMATED, f"runs in {base}, where the files are that it names", "args")


def _words(args: object) -> list[Any]:
    return args if isinstance(args, list) else []


def _is_there(base: FilePath, word: object) -> bool:
    """Whether a word is the relative path of something in the project."""
    if (
        not isinstance(word, str)
        or not word
        or word.startswith(("/", "-", "~"))
        or "\0" in word
        or word == "."
    ):
        return False
    try:
        return ("/" in word or "." in word) and (base / word).exists()
    except (OSError, ValueError):
        return False


def done(found: Found, became: str) -> Item:
    """The item of a server that is written."""
    return found.item(outcome_of(found.remarks), became)
