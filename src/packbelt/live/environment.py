"""What a server is started with: the child's environment, and `${NAME}` in its definition.

Fields that expand, the same for both transports: the values of `env` and `headers`, `url`, and each of
`args`. `command`, `cwd`, and the names of variables and headers do not, and are refused where they hold
`${`, so that no placeholder ever reaches a server as it was written.

- `${NAME}` is the variable's value. A variable that is not set keeps the server from starting.
- `${NAME:-default}` is the default where the variable is not set or empty, as in a shell.
- `$${` is a literal `${`.

A variable that is set and empty gives the empty string, except in a header, where an empty credential is an
error: `Bearer ` with nothing after it is a request that some servers accept. Values are put in once and not
looked at again: a `${` inside a value is text.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packbelt.catalog.workspace import ServerSpec
from packbelt.live.secret import SHORTEST_LITERAL, SHORTEST_PLACEHOLDER, Environ, Secret, masked
from packbelt.model import PackbeltError

INHERITED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "SYSTEMROOT",
    "PATHEXT",
    "USERPROFILE",
)
"""All that a server inherits of packbelt's own environment."""

_PLACEHOLDER = re.compile(
    r"(?P<escape>\$\$\{)"
    r"|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>(?:(?!\$\{)[^}])*))?\}"
    r"|(?P<malformed>\$\{)"
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SCHEMES = frozenset({"", "apikey", "api-key", "basic", "bearer", "digest", "key", "token"})
_CREDENTIALS = frozenset({"authorization", "proxy-authorization"})


class PlaceholderError(PackbeltError):
    """A server's definition cannot be filled in. Names the server and the variable, never a value.

    Args:
        spec: the server's definition.
        detail: what is wrong with it, without the server's name.
        mend: what to do about it.
    """

    def __init__(self, spec: ServerSpec, detail: str, mend: str) -> None:
        self.detail = detail
        super().__init__(f"server {spec.name!r}: {detail}", where=spec.where, mend=mend, name=spec.name)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A server's definition with its placeholders filled in; prints without a single value.

    Attributes:
        spec: the definition as written.
        secrets: values to mask in whatever the server says; what is granted to it later is added.
    """

    spec: ServerSpec
    args: tuple[Secret, ...] = ()
    env: Mapping[str, Secret] = field(default_factory=dict)
    url: Secret = field(default_factory=lambda: Secret(""))
    headers: Mapping[str, Secret] = field(default_factory=dict)
    secrets: list[Secret] = field(default_factory=list)

    def learn(self, values: Iterable[str]) -> None:
        """These are secrets of it from now on, such as the tokens that it was granted."""
        self.secrets.extend({Secret(value) for value in values if value}.difference(self.secrets))

    def mask(self, text: str) -> str:
        """The text without any value of this definition that may be a secret."""
        return masked(text, self.secrets)


@dataclass(frozen=True, slots=True)
class _Placeholder:
    name: str
    default: str | None

    def value(self, environ: Mapping[str, str]) -> Secret:
        """The variable's value, or the default; the caller has checked that there is one."""
        return Secret(environ.get(self.name, "") or self.default or "")


_Parts = tuple[str | _Placeholder, ...]


def resolve(spec: ServerSpec, environ: Mapping[str, str] | None = None) -> Resolved:
    """Fill in the placeholders of a trusted server's definition.

    Args:
        spec: the definition.
        environ: where variables are looked up; the process's environment by default.

    Raises:
        PlaceholderError: a variable is not set, a header's credential is empty, a placeholder is malformed,
            or a field that does not expand holds one.
    """
    environ = Environ(os.environ if environ is None else environ)
    _refuse_elsewhere(spec)
    fields = {label: (text, _parse(spec, label, text)) for label, text in _expanding(spec)}
    # All names are checked before the first value is read: no frame of a failure holds one.
    for label, (_, parts) in fields.items():
        _require_set(spec, label, parts, environ)
    values = {
        label: Secret.joined(part if isinstance(part, str) else part.value(environ) for part in parts)
        for label, (_, parts) in fields.items()
    }
    for name in spec.headers:
        label = f"headers.{name}"
        _check_header(spec, name, fields[label][1], values[label], environ)
    return Resolved(
        spec=spec,
        args=tuple(values[f"args[{i}]"] for i in range(len(spec.args))),
        env={name: values[f"env.{name}"] for name in spec.env},
        url=values.get("url", Secret("")),
        headers={name: values[f"headers.{name}"] for name in spec.headers},
        secrets=list(_secrets(fields, values, environ)),
    )


def child_environment(resolved: Resolved, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a server's process: `INHERITED`, and the definition's own `env` over it."""
    return inherited(environ) | {name: value.reveal() for name, value in resolved.env.items()}


def inherited(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The part of an environment that a child process is given: `INHERITED`, where set."""
    environ = Environ(os.environ if environ is None else environ)
    # A value that starts with () is a function exported by a shell: code, where a value is expected.
    return {
        name: environ[name] for name in INHERITED if name in environ and not environ[name].startswith("()")
    }


def _expanding(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    """Label and text of every field that expands."""
    yield from ((f"args[{i}]", text) for i, text in enumerate(spec.args))
    yield from ((f"env.{name}", text) for name, text in spec.env.items())
    if spec.url:
        yield "url", spec.url
    yield from ((f"headers.{name}", text) for name, text in spec.headers.items())


def _refuse_elsewhere(spec: ServerSpec) -> None:
    still = [("command", spec.command), ("cwd", spec.cwd or "")]
    still += [("a name in env", name) for name in spec.env]
    still += [("a name in headers", name) for name in spec.headers]
    for label, text in still:
        if "${" in text:
            raise PlaceholderError(
                spec,
                f"{label} holds a placeholder, and it is not a field that expands",
                "write it out; values of env and headers, url and args expand",
            )


def _parse(spec: ServerSpec, label: str, text: str) -> _Parts:
    parts: list[str | _Placeholder] = []
    at = 0
    for match in _PLACEHOLDER.finditer(text):
        if match["malformed"]:
            # The text itself is not shown: what stands here by mistake may be a credential.
            raise PlaceholderError(
                spec,
                f"{label} has a malformed placeholder at character {match.start() + 1}",
                "write ${NAME}, ${NAME:-default}, or $${ for a literal ${",
            )
        parts.append(text[at : match.start()])
        parts.append("${" if match["escape"] else _Placeholder(match["name"], match["default"]))
        at = match.end()
    parts.append(text[at:])
    return tuple(part for part in parts if part != "")


def _require_set(spec: ServerSpec, label: str, parts: _Parts, environ: Mapping[str, str]) -> None:
    for part in parts:
        if isinstance(part, _Placeholder) and part.default is None and part.name not in environ:
            raise PlaceholderError(
                spec,
                f"{label} needs ${{{part.name}}}, and that variable is not set",
                f"set {part.name}, or write ${{{part.name}:-default}}",
            )


def _check_header(
    spec: ServerSpec, name: str, parts: _Parts, value: Secret, environ: Mapping[str, str]
) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise PlaceholderError(
            spec, f"headers has a name that HTTP does not allow: {name!r}", "mend the name"
        )
    for part in parts:
        if isinstance(part, _Placeholder) and not part.value(environ):
            raise PlaceholderError(
                spec,
                f"headers.{name} comes out without its value: ${{{part.name}}} is empty",
                f"give {part.name} a value, or remove the header",
            )
    if name.lower() in _CREDENTIALS and value.reveal().strip().lower() in _SCHEMES:
        raise PlaceholderError(spec, f"headers.{name} has no credential", "write one, or remove the header")
    if not _HEADER_VALUE.fullmatch(value.reveal()):
        raise PlaceholderError(
            spec,
            f"headers.{name} holds a character that HTTP does not allow",
            "check its variables for line ends",
        )


def _secrets(
    fields: Mapping[str, tuple[str, _Parts]], values: Mapping[str, Secret], environ: Mapping[str, str]
) -> Iterator[Secret]:
    for label, (text, parts) in fields.items():
        placeholders: Sequence[_Placeholder] = [part for part in parts if isinstance(part, _Placeholder)]
        for placeholder in placeholders:
            secret = placeholder.value(environ)
            if len(secret.reveal()) >= SHORTEST_PLACEHOLDER:
                yield secret
        if not placeholders and label.startswith(("env.", "headers.")) and len(text) >= SHORTEST_LITERAL:
            yield values[label]
