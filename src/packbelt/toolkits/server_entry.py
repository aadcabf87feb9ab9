"""A registry's `server.json` as an entry of `.mcp.json`, or why it cannot be one.

What a publisher writes is never expanded: a `${` of theirs becomes `$${`, so that no entry takes a variable
which nobody gave it. Variables and headers hold what the caller passes, and a secret only as a reference.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Never

from packbelt.toolkits.limits import ToolkitError

_REFERENCE = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]* )?\$\{[A-Za-z_][A-Za-z0-9_]*\}\Z")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,99}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_TEMPLATE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class _Home:
    """A package registry: its names, the SHA-256 of its own address, and what runs a package of it."""

    identifier: re.Pattern[str]
    base: str
    command: str
    before: tuple[str, ...]


_HOMES = {
    "npm": _Home(
        re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*\Z", re.IGNORECASE),
        "036b43b16792c643378e95923ed2f4cc78e800de141b764aeea70d47580396df",
        "npx",
        ("-y",),
    ),
    "pypi": _Home(
        re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z"),
        "b4c93a4591f5e6ddfc66b8a35a37ab125d5d352002bffbc5e9293a87fe06a8ca",
        "uvx",
        (),
    ),
}


@dataclass(frozen=True, slots=True)
class Need:
    """A variable or a header that a server's publisher asks for."""

    name: str
    description: str
    required: bool
    secret: bool
    fixed: str
    default: str


@dataclass(frozen=True, slots=True)
class Way:
    """How one server is run or reached.

    Attributes:
        kind: `npm`, `pypi` or `remote`.
        command: what runs it; empty for a remote one.
        args: its arguments, as a file would hold them.
        url: a remote server's.
        needs: its variables, or a remote server's headers.
        unfilled: arguments that its publisher requires and nobody has given a value yet.
    """

    kind: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    needs: tuple[Need, ...] = ()
    unfilled: tuple[str, ...] = ()


def way_of(server: Mapping[str, Any]) -> Way:
    """The first way of a server that can be taken: an npm or PyPI package over stdio, or a remote address.

    Raises:
        ToolkitError: it has none.
    """
    why: list[str] = []
    tried: list[tuple[Callable[[Mapping[str, Any]], Way], Mapping[str, Any]]]
    tried = [(_package, each) for each in _maps(server.get("packages"))]
    tried += [(_remote, each) for each in _maps(server.get("remotes"))]
    for make, each in tried:
        try:
            return make(each)
        except ToolkitError as problem:
            why.append(problem.problem)
    raise ToolkitError(
        f"{_text(server, 'name')!r} cannot be installed: {'; '.join(why) or 'it has no package'}"
    )


def entry_of(
    way: Way, env: Mapping[str, str], headers: Mapping[str, str], args: Sequence[str]
) -> dict[str, Any]:
    """The entry of `.mcp.json`.

    Args:
        way: how the server is run or reached.
        env: variables that the caller gives.
        headers: likewise.
        args: further arguments that the caller gives.

    Raises:
        ToolkitError: something required is missing, is not asked for, or is a secret in clear.
    """
    if way.kind == "remote":
        if env or args:
            raise ToolkitError("a remote server has no variables and no arguments", mend="pass headers")
        entry: dict[str, Any] = {"type": "http", "url": way.url}
        filled = _fill(way.needs, headers, "header")
        return entry | ({"headers": filled} if filled else {})
    if headers:
        raise ToolkitError("a local server has no headers", mend="pass env")
    if way.unfilled and not args:
        raise ToolkitError(f"it needs arguments: {', '.join(way.unfilled)}", mend="pass args")
    entry = {"command": way.command, "args": [*way.args, *args]}
    filled = _fill(way.needs, env, "variable")
    return entry | ({"env": filled} if filled else {})


def _package(package: Mapping[str, Any]) -> Way:
    kind = _text(package, "registryType")
    home = _HOMES.get(kind)
    if home is None:
        raise ToolkitError(f"packages of {kind or 'no type'} are not taken")
    identifier, version = _text(package, "identifier"), _text(package, "version")
    if not home.identifier.match(identifier):
        raise ToolkitError(f"{identifier!r} is no name of an {kind} package")
    if not _VERSION.match(version) or version == "latest":
        raise ToolkitError(f"its package {identifier} has no fixed version")
    base = _text(package, "registryBaseUrl").rstrip("/")
    if base and sha256(base.encode()).hexdigest() != home.base:
        raise ToolkitError(f"its package {identifier} lies in another registry than {kind}'s own")
    transport = package.get("transport")
    if isinstance(transport, Mapping) and transport.get("type", "stdio") != "stdio":
        raise ToolkitError(f"its package {identifier} does not speak over stdio")
    runtime = [_text(each, "value") or _text(each, "name") for each in _maps(package.get("runtimeArguments"))]
    if [word for word in runtime if word not in ("-y", "--yes")]:
        # They are npx's and uvx's own: another index, another package, or a command line.
        raise ToolkitError(f"its package {identifier} wants arguments for {home.command} itself")
    args, unfilled = _arguments(package)
    needs = tuple(map(_need, _maps(package.get("environmentVariables"))))
    for need in needs:
        if not _VARIABLE.match(need.name):
            raise ToolkitError(f"{need.name!r} is no name of a variable")
    return Way(
        kind,
        home.command,
        (*home.before, f"{identifier}@{version}", *args),
        needs=needs,
        unfilled=tuple(unfilled),
    )


def _arguments(package: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    args: list[str] = []
    unfilled: list[str] = []
    for each in _maps(package.get("packageArguments")):
        name = _text(each, "name")
        value = _filled(_text(each, "value") or _text(each, "default"), each)
        if value is None or (not value and name == ""):
            if each.get("isRequired") is True or _text(each, "value"):
                unfilled.append(name or _text(each, "valueHint") or "a value")
        elif value or each.get("isRequired") is True:
            args += [_literal(word) for word in (name, value) if word]
    return args, unfilled


def _remote(remote: Mapping[str, Any]) -> Way:
    if _text(remote, "type") != "streamable-http":
        raise ToolkitError(f"addresses of the type {_text(remote, 'type') or 'unknown'} are not taken")
    url = _filled(_text(remote, "url"), remote)
    if url is None:
        raise ToolkitError("its address holds variables that have no default")
    if not url.startswith("https://") or not url.isprintable():
        raise ToolkitError("its address is no https one")
    needs = tuple(map(_need, _maps(remote.get("headers"))))
    for need in needs:
        if not _HEADER.match(need.name):
            raise ToolkitError(f"{need.name!r} is no name of a header")
    return Way("remote", url=_literal(url), needs=needs)


def _need(each: Mapping[str, Any]) -> Need:
    value, default = (_filled(_text(each, key), each) for key in ("value", "default"))
    secret = each.get("isSecret") is True or value is None
    variables = each.get("variables")
    secret = secret or any(
        one.get("isSecret") is True for one in (variables.values() if isinstance(variables, Mapping) else ())
        if isinstance(one, Mapping)
    )  # fmt: skip
    required = each.get("isRequired") is True or value is None
    return Need(_text(each, "name"), _text(each, "description"), required, secret, value or "", default or "")


def _filled(text: str, holder: Mapping[str, Any]) -> str | None:
    """A text with its `{variables}` filled in; None where one has neither a value nor a default."""
    variables = holder.get("variables")
    known = variables if isinstance(variables, Mapping) else {}
    for name in _TEMPLATE.findall(text):
        if name not in known:
            continue
        one = known[name] if isinstance(known[name], Mapping) else {}
        value = _text(one, "value") or _text(one, "default")
        if not value:
            return None
        text = text.replace(f"{{{name}}}", value)
    return text


def _fill(needs: Sequence[Need], given: Mapping[str, str], what: str) -> dict[str, str]:
    asked = {need.name: need for need in needs}
    for name, value in given.items():
        need = asked.get(name)
        if (need is None or need.secret) and not _REFERENCE.match(value):
            _refuse_clear(what, name)
        if not (_VARIABLE if what == "variable" else _HEADER).match(name):
            raise ToolkitError(f"{name!r} is no name of a {what}")
    values = dict(given)
    for need in needs:
        if need.fixed:
            values[need.name] = _literal(need.fixed)
        elif need.name not in values and need.default and not need.secret:
            values[need.name] = _literal(need.default)
    missing = [need.name for need in needs if need.required and need.name not in values]
    if missing:
        shape = "${" + re.sub(r"\W", "_", missing[0]).upper() + "}"
        raise ToolkitError(
            f"it needs the {what}s {', '.join(missing)}", mend=f"pass each as a reference such as {shape}"
        )
    return values


def _refuse_clear(what: str, name: str) -> Never:
    raise ToolkitError(
        f"the value of the {what} {name} is not written into a file in clear",
        mend="pass a reference such as ${" + re.sub(r"\W", "_", name).upper() + "}",
    )


def _literal(text: str) -> str:
    return text.replace("${", "$${")


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _text(holder: Mapping[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""
