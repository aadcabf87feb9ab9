"""Values of servers' entries on their way: other clients' placeholders, and secrets written in clear.

A literal that looks like a secret is never copied. It becomes a reference `${NAME}`, and the report names the
variable. What looks like one is judged by the name that it stands under and by its own shape; judged too
often rather than too seldom, since a variable too many costs a line in a shell's profile.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from packbelt.model import WorkspaceError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLACE = re.compile(r"\$\{([^{}]*)\}")
_REFERENCE = re.compile(r"(?<!\$)\$\{[A-Za-z_][A-Za-z0-9_]*(?::-([^}]*))?\}")
_BRACED = re.compile(r"\{(env|file):([^{}]*)\}")
_BARE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))")
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|passphrase|passcode|credential|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key"
    r"|auth|bearer|cookie|signature|connection[-_. ]?string|conn[-_. ]?str|dsn|webhook"
    r"|(?:^|[-_. ])(?:pat|key|pin|sig)s?$",
    re.IGNORECASE,
)
_CAMEL_KEY = re.compile(r"[a-z0-9](?:Key|Pat|Pin)$")
_PLAIN_VALUE = re.compile(r"(?:true|false|yes|no|on|off|none|null|\d{1,6})\Z", re.IGNORECASE)
_SHAPE = re.compile(
    r"(?:\b|_)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[opusr]_\w{16,}|\bgithub_pat_\w+|\bglpat-[\w-]{12,}"
    r"|\bxox[a-z]-[\w-]+|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w-]+|\beyJ[\w-]{8,}\.[\w.-]+"
    r"|-----BEGIN|\b(?:hf|npm|ntn|dop_v1|lin_api|shpat|tvly|fc|dckr_pat|SG)[-_.][\w.-]{12,}"
    r"|\b(?:Bearer|Basic) \S{8,}"
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z0-9_+=~-]{20,}\Z")
_USERINFO = re.compile(r"(?<=://)([^/\s:@?#]*):([^/\s@?#]+)(?=@)")
_PARAM = re.compile(r"([?&;])([^=&#\s]+)=([^&#\s]+)")
_SEGMENT = re.compile(r"(?<=[/])([A-Za-z0-9_+=~-]{20,})(?=[/?#]|\Z)")
_SCHEME = re.compile(r"\s*((?:Bearer|Basic|Token|ApiKey)\s+)(\S.*)\Z", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile(r"(--?[A-Za-z][\w.-]*)(=)(.*)\Z|([A-Za-z_][\w.-]*)(=|:\s*)(.*)\Z", re.DOTALL)
_ENTROPY = 3.2
"""Bits a letter, from which on a word of letters and digits is no word."""


def secret_name(name: str) -> bool:
    """Whether what stands under this name is probably a secret."""
    return bool(_SECRET_NAME.search(name) or _CAMEL_KEY.search(name))


def secret_shape(text: str) -> bool:
    """Whether a text looks like a token, a key or a password in an address, whatever its name is."""
    return bool(_SHAPE.search(text) or _USERINFO.search(text) or _random(text))


def _random(text: str) -> bool:
    if not _WORD.match(text) or sum(c.isdigit() for c in text) < 3 or not any(c.isalpha() for c in text):  # noqa: PLR2004
        return False
    counts = Counter(text)
    bits = -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
    return bits >= _ENTROPY


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
    """

    servers: dict[str, list[str]] = field(default_factory=dict)
    _values: dict[str, str] = field(default_factory=dict, repr=False)

    def stand_for(self, value: str, name: str, server: str) -> str:
        """The reference that stands for a value that is not copied."""
        digest = sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        choices = [name, variable_of(server, name)]
        choices += [f"{choices[1]}_{i}" for i in range(2, 1000)]
        chosen = next((one for one in choices if self._values.get(one, digest) == digest), choices[-1])
        self._values[chosen] = digest
        return self.refer(chosen, server)

    def refer(self, name: str, server: str) -> str:
        """A reference to a variable that the file itself names."""
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

    def _braced(self, found: re.Match[str]) -> str:
        kind, name = found.groups()
        name = name.strip()
        if kind == "env" and _NAME.match(name):
            return self.variables.refer(name, self.server)
        self.hidden.append(found.group())
        return self.variables.stand_for(found.group(), variable_of(name.rsplit("/", 1)[-1]), self.server)

    def _bare(self, found: re.Match[str]) -> str:
        name, default, plain = found.groups()
        if default is not None:
            return found.group()
        return self.variables.refer(name or plain, self.server)

    def _place(self, found: re.Match[str]) -> str:
        whole, inside = found.group(), found.group(1)
        if found.start() and found.string[found.start() - 1] == "$":
            return whole  # `$${` is packbelt's own literal
        kind, colon, rest = inside.partition(":")
        if colon and kind == "env" and _NAME.match(rest):
            return self.variables.refer(rest, self.server)
        if colon and kind == "input" and rest.strip():
            return self.variables.refer(variable_of(rest), self.server)
        known = self._known(inside)
        if known is not None:
            self.resolved.append(whole)
            return known
        if _NAME.match(inside):
            return self.variables.refer(inside, self.server)
        if _REFERENCE.match(whole):
            return self._default(whole, inside.partition(":-")[0])
        if kind in (
            "config",
            "command",
            "env",
            "input",
            "workspaceFolder",
            "lineNumber",
            "selectedText",
            "file",
        ):
            raise WorkspaceError(
                f"server {self.server!r} has the placeholder {whole}, which only its editor can fill in",
                mend="write the value, or ${NAME} for a variable",
                name=self.server,
            )
        return f"${whole}"  # no client's placeholder: text, such as a shell's own

    def _default(self, whole: str, name: str) -> str:
        default = whole[:-1].partition(":-")[2]
        if default and (secret_shape(default) or (secret_name(name) and not _PLAIN_VALUE.match(default))):
            self.hidden.append(name)
            return self.variables.refer(name, self.server)
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
        if self._clear(value) and (self._named(name, value) or secret_shape(value)):
            return self._hide(value, variable_name(name))
        return value

    def header(self, name: str, value: str) -> str:
        """A value of `headers`; the word before a token stays."""
        if not self._clear(value) or not (self._named(name, value) or secret_shape(value)):
            return value
        scheme = _SCHEME.match(value)
        lead, token = scheme.groups() if scheme else ("", value)
        return lead + self._hide(token, variable_of(self.server, name))

    def url(self, text: str) -> str:
        """An address: passwords, parameters and parts of its path that look like secrets."""

        def parameter(found: re.Match[str]) -> str:
            mark, name, value = found.groups()
            if self._clear(value) and (self._named(name, value) or secret_shape(value)):
                return f"{mark}{name}={self._hide(value, variable_of(self.server, name))}"
            return found.group()

        def segment(found: re.Match[str]) -> str:
            if secret_shape(found.group()):
                return self._hide(found.group(), variable_of(self.server, "url", "key"))
            return found.group()

        def password(found: re.Match[str]) -> str:
            if not self._clear(found.group(2)):
                return found.group()
            return f"{found.group(1)}:{self._hide(found.group(2), variable_of(self.server, 'password'))}"

        head, mark, tail = _USERINFO.sub(password, text).partition("?")
        return _SEGMENT.sub(segment, head) + (_PARAM.sub(parameter, mark + tail) if mark else "")

    def arguments(self, args: list[Any]) -> list[Any]:
        """`--token X`, `--token=X`, `TOKEN=X`, `Header: X`, addresses, and what has a secret's shape."""
        done: list[Any] = []
        for i, word in enumerate(args):
            before = args[i - 1] if i else ""
            flag = before if isinstance(before, str) and before.startswith("-") and "=" not in before else ""
            done.append(self._argument(word, flag) if isinstance(word, str) else word)
        return done

    def _argument(self, word: str, flag: str) -> str:
        if "://" in word:
            return self.url(word)
        if flag and not word.startswith("-") and self._clear(word) and self._named(flag, word):
            return self._hide(word, variable_of(self.server, flag))
        if (found := _FLAG.match(word)) and not flag.startswith("--eval"):
            name, mark, value = (part for part in found.groups() if part is not None)
            if self._clear(value) and (self._named(name, value) or secret_shape(value)):
                scheme = _SCHEME.match(value)
                lead, token = scheme.groups() if scheme else ("", value)
                return f"{name}{mark}{lead}{self._hide(token, variable_of(self.server, name))}"
            return word
        if self._clear(word) and secret_shape(word):
            return self._hide(word, variable_of(self.server, flag or "argument"))
        return word

    def _clear(self, value: str) -> bool:
        """Whether a value is written out: it holds something, and no reference."""
        return bool(value.strip()) and not _REFERENCE.search(value)

    def _named(self, name: str, value: str) -> bool:
        return secret_name(name) and not _PLAIN_VALUE.match(value.strip())

    def _hide(self, value: str, name: str) -> str:
        self.hidden.append(name)
        return self.variables.stand_for(value, name, self.server)
