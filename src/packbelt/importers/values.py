"""Values of servers' entries on their way: other clients' placeholders, and secrets written in clear.

A literal that looks like a secret is never copied. It becomes a reference `${NAME}`, and the report names the
variable.
"""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

from packbelt.importers.secrets import REFERENCE, Span, secrets_of, token_like
from packbelt.model import WorkspaceError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLACE = re.compile(r"\$\{([^{}]*)\}")
_BRACED = re.compile(r"\{(env|file):([^{}]*)\}")
_BARE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::-([^{}]*))?\}|([A-Za-z_]\w*))")
_NAMES = re.compile(r"\$\{?(?:env:)?([A-Za-z_]\w*)|\{env:([A-Za-z_]\w*)\}")
_EDITOR = frozenset(
    {"config", "command", "env", "input", "workspaceFolder", "lineNumber", "selectedText", "file"}
)
"""Kinds of placeholder whose value only an editor knows."""


def variable_of(*words: str) -> str:
    """Words as the name of a variable."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).strip("_").upper() or "VALUE"
    return f"_{name}" if name[0].isdigit() else name


def variable_name(name: str) -> str:
    """A variable's name as it is where it can be one."""
    return name if _NAME.match(name) else variable_of(name)


@dataclass(slots=True)
class Variables:
    """The variables that an import asks for. One name never stands for two values.

    Attributes:
        servers: which servers need each.
        named: names that files use for variables of their own, whose values nobody here knows.
    """

    servers: dict[str, list[str]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    _values: dict[str, str] = field(default_factory=dict, repr=False)

    def reserve(self, text: str) -> None:
        """Keep the names that a text uses for variables of its own from standing for anything else."""
        self.named.update(one for pair in _NAMES.findall(text) for one in pair if one)

    def stand_for(self, value: str, name: str, server: str) -> str:
        """The reference that stands for a value that is not copied."""
        digest = sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        whose = variable_of(server)
        longer = name if name.startswith(f"{whose}_") else f"{whose}_{name}"
        choices = chain((name, longer), (f"{longer}_{i}" for i in count(2)))
        free = (one for one in choices if one not in self.named and self._values.get(one, digest) == digest)
        chosen = next(free)
        self._values[chosen] = digest
        return self._use(chosen, server)

    def refer(self, name: str, server: str) -> str:
        """A reference to a variable that the file itself names.

        Raises:
            WorkspaceError: the name stands for another server's secret already.
        """
        if name in self._values:
            raise WorkspaceError(
                f"server {server!r} uses the variable {name}, which stands for another's secret here",
                mend="rename the variable",
                name=server,
            )
        self.named.add(name)
        return self._use(name, server)

    def _use(self, name: str, server: str) -> str:
        users = self.servers.setdefault(name, [])
        if server not in users:
            users.append(server)
        return "${" + name + "}"


@dataclass(frozen=True, slots=True)
class Places:
    """What the placeholders of editors and plugins stand for.

    Attributes:
        project: the project's directory.
        home: the home directory.
        plugin: the plugin's directory, for its own files.
    """

    project: Path
    home: Path
    plugin: Path | None = None


@dataclass(slots=True)
class Values:
    """The values of one server's entry.

    Args:
        server: its name.
        places: what placeholders stand for.
        variables: where new names are noted.
        dialect: `usual`, `opencode` (`{env:X}`), `gemini` (also `$X`) or `none` (nothing is a placeholder).
    """

    server: str
    places: Places
    variables: Variables
    dialect: str = "usual"
    hidden: list[str] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)

    def translated(self, text: str) -> str:
        """A text with other clients' placeholders in packbelt's form.

        Raises:
            WorkspaceError: a placeholder asks the editor, so its value is known to nobody else.
        """
        if self.dialect == "none":
            return text.replace("${", "$${")
        if self.dialect == "opencode":
            text = text.replace("${", "$${")
            return _BRACED.sub(self._braced, text)
        if self.dialect == "gemini":
            return _BARE.sub(self._bare, text)
        return _PLACE.sub(self._place, text)

    def refer(self, name: str) -> str:
        """A reference to a variable that the file names, unless what it names is a secret itself."""
        if token_like(name):
            return self._hide(name, variable_of(self.server, "token"))
        return self.variables.refer(name, self.server)

    def _braced(self, found: re.Match[str]) -> str:
        kind, name = found.groups()
        name = name.strip()
        if kind == "env" and _NAME.match(name):
            return self.refer(name)
        return self._hide(found.group(), variable_of(name.rsplit("/", 1)[-1]))

    def _bare(self, found: re.Match[str]) -> str:
        name, default, plain = found.groups()
        if default is not None:
            return self._default(found.group(), name)
        return self.refer(name or plain)

    def _place(self, found: re.Match[str]) -> str:
        whole, inside = found.group(), found.group(1)
        if found.start() and found.string[found.start() - 1] == "$":
            return whole  # `$${` is packbelt's own literal
        kind, colon, rest = inside.partition(":")
        if colon and kind == "env" and _NAME.match(rest):
            return self.refer(rest)
        if colon and kind == "input" and rest.strip():
            return self.variables.stand_for(inside, variable_of(rest), self.server)
        if inside.startswith("user_config.") and inside != "user_config.":  # a plugin's own settings
            name = variable_of(inside.removeprefix("user_config."))
            return self.variables.stand_for(f"{self.places.plugin} {inside}", name, self.server)
        known = self._known(inside)
        if known is not None:
            self.resolved.append(whole)
            return known
        if _NAME.match(inside):
            return self.refer(inside)
        if REFERENCE.match(whole):
            return self._default(whole, inside.partition(":-")[0])
        if kind in _EDITOR:
            raise WorkspaceError(
                f"server {self.server!r} has the placeholder {whole}, which only its editor can fill in",
                mend="write the value, or ${NAME} for a variable",
                name=self.server,
            )
        return f"${whole}"  # no client's placeholder: text, such as a shell's own

    def _default(self, whole: str, name: str) -> str:
        default = whole[:-1].partition(":-")[2]
        if default and secrets_of(default, name):
            self.hidden.append(name)
            return self.refer(name)
        return whole

    def _known(self, name: str) -> str | None:
        match name:
            case "workspaceFolder" | "CLAUDE_PROJECT_DIR" | "cwd":
                return str(self.places.project)
            case "workspaceFolderBasename":
                return self.places.project.name
            case "userHome":
                return str(self.places.home)
            case "pathSeparator" | "/":
                return "/"
            case "CLAUDE_PLUGIN_ROOT" if self.places.plugin is not None:
                return str(self.places.plugin)
        return None

    # secrets

    def variable(self, name: str, value: str) -> str:
        """A value of `env`."""
        return self._whole(value, secrets_of(value, name), variable_name(name))

    def header(self, name: str, value: str) -> str:
        """A value of `headers`; the word before a token stays."""
        spans = secrets_of(value, name)
        if spans and len(spans) == 1 and spans[0].end == len(value):
            return self._hide_parts(value, spans, variable_of(self.server, name))
        return self._whole(value, spans, variable_of(self.server, name))

    def url(self, text: str) -> str:
        """An address: passwords, parameters and parts of its path that look like secrets."""
        return self._hide_parts(text, secrets_of(text), variable_of(self.server, "url", "key"))

    def arguments(self, args: list[Any]) -> list[Any]:
        """`--token X`, `--token=X`, `TOKEN=X`, `Header: X`, addresses, and what has a secret's shape."""
        done: list[Any] = []
        for i, word in enumerate(args):
            before = args[i - 1] if i else ""
            flag = before if isinstance(before, str) and before.startswith("-") and "=" not in before else ""
            done.append(self._argument(word, flag))
        return done

    def _argument(self, word: Any, flag: str) -> Any:
        text = spelt(word)
        if text is None:
            return word
        spans = secrets_of(text, "" if text.startswith("-") else flag)
        return self._hide_parts(text, spans, variable_of(self.server, flag or "argument")) if spans else word

    def _whole(self, value: str, spans: list[Span], name: str) -> str:
        """All of a value that has a secret in it; only the secret where it also has references."""
        if not spans:
            return value
        if REFERENCE.search(value):
            return self._hide_parts(value, spans, name)
        return self._hide(value, name)

    def _hide_parts(self, text: str, spans: list[Span], otherwise: str) -> str:
        for span in reversed(spans):
            name = variable_of(self.server, span.name) if span.name else otherwise
            text = f"{text[: span.start]}{self._hide(text[span.start : span.end], name)}{text[span.end :]}"
        return text

    def _hide(self, value: str, name: str) -> str:
        reference = self.variables.stand_for(value, name, self.server)
        self.hidden.append(reference[2:-1])
        return reference


def spelt(value: object) -> str | None:
    """A value as text: a number as it is spelt; None for what is no such value."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
