"""Where skills come from: git repositories, directories and archives."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from packbelt.model import WorkspaceError
from packbelt.toolkits.limits import ToolkitError

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_REF = re.compile(r"[A-Za-z0-9_][\w./+@-]{0,199}\Z", re.ASCII)
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
_GITHUB = re.compile(r"/([^/]+/[^/]+)/(?:tree|blob)/([^/]+)(?:/(.*))?\Z")

SourceKind = Literal["git", "directory", "archive", "file"]


@dataclass(frozen=True, slots=True)
class Source:
    """One place that skills are installed from.

    Attributes:
        name: a short name, by which models and people call it.
        kind: `git`, `directory`, `archive`, or `file` for a single SKILL.md at an address.
        address: a repository's or an archive's address, or a path. Without a user's name or password: it is
            shown.
        ref: a repository's branch, tag or commit; its own default where None.
        strict_tls: whether only encrypted connections are used, also after a redirect. Only for a server on
            this machine may it be False.
    """

    name: str
    kind: SourceKind
    address: str
    ref: str | None = None
    strict_tls: bool = True

    def __post_init__(self) -> None:
        """Refuse what git or a path would read as something else.

        Raises:
            WorkspaceError: the name, the address or the ref cannot be used.
        """
        if not _NAME.match(self.name):
            raise WorkspaceError(f"{self.name!r} is no name for a source", mend="write a-z, 0-9, . _ and -")
        if problem := address_problem(self.address) or ("" if self.ref is None else ref_problem(self.ref)):
            raise WorkspaceError(f"source {self.name!r}: {problem}", name=self.name)

    @property
    def key(self) -> str:
        """A file name for what was fetched of it."""
        return hashlib.sha256(f"{self.kind}\n{self.address}\n{self.ref or ''}".encode()).hexdigest()[:24]


def git(name: str, address: str, ref: str | None = None) -> Source:
    """A git repository with one skill or many; fetched with its history cut off.

    Args:
        name: the source's name.
        address: `https://...`, `ssh://...`, or the path of a repository on this machine.
        ref: branch, tag or commit; default the repository's own.
    """
    return Source(name, "git", address, ref)


def directory(name: str, path: str | Path) -> Source:
    """A directory on this machine; read afresh each time."""
    return Source(name, "directory", str(Path(path).absolute()))


def archive(name: str, address: str | Path) -> Source:
    """A zip, tar or tar.gz: a path, or an `https://` address."""
    return Source(name, "archive", str(address if is_url(address) else Path(address).absolute()))


def is_url(address: str | Path) -> bool:
    """Whether it is an address rather than a path."""
    return "://" in str(address)


def address_problem(address: str) -> str:
    """Why git or an HTTP client shall not see it; empty if they may."""
    if not address.strip() or address.startswith("-") or not address.isprintable():
        return "its address is empty, starts with - or holds a control character"
    if "::" in address.split("/", 1)[0]:
        return "an address with :: makes git run a command"
    if is_url(address):
        try:
            parts = urlsplit(address)
            named = parts.password is not None or (parts.scheme != "ssh" and parts.username is not None)
        except ValueError:
            return "its address is malformed"
        if named:
            return "its address holds a user's name or password"
    return ""


def ref_problem(ref: str) -> str:
    """Why git shall not see a ref; empty if it may."""
    return "" if _REF.match(ref) and ".." not in ref else f"{ref!r} is no branch, tag or commit"


@dataclass(frozen=True, slots=True)
class Given:
    """An address that a model gave, read.

    Attributes:
        source: what it names.
        path: the folder in it that the address itself names.
    """

    source: Source
    path: str = ""


def read_url(url: str, ref: str | None, *, local: bool) -> Given:
    """What an address is: an archive or a SKILL.md by its ending, else a repository.

    An address of a folder or of a SKILL.md on github.com, as a browser shows it, is that folder of that
    repository.

    Args:
        url: an address.
        ref: branch, tag or commit.
        local: whether `http` and `file` addresses are taken too: for a host whose sources lie on its own
            machine.

    Raises:
        ToolkitError: no such address is taken.
    """
    if problem := address_problem(url) or ("" if ref is None else ref_problem(ref)):
        raise ToolkitError(problem)
    parts = urlsplit(url)
    if parts.scheme not in (("https", "http", "file") if local else ("https",)):
        raise ToolkitError(f"{url!r} is no https address", mend="give one that starts with https://")
    path = unquote(parts.path)
    found = _GITHUB.match(path) if parts.hostname == "github.com" else None
    if found:
        folder = (found[3] or "").removesuffix("SKILL.md").strip("/")
        given = ref or found[2]
        if problem := ref_problem(given):
            raise ToolkitError(problem)
        return Given(Source("address", "git", f"https://github.com/{found[1]}", given), folder)
    kind: SourceKind = "git"
    if path.endswith(_ARCHIVES):
        kind = "archive"
    elif path.endswith("/SKILL.md"):
        kind = "file"
    if kind != "git" and ref is not None:
        raise ToolkitError("only a repository has a ref", mend="leave `ref` out")
    return Given(Source("address", kind, url, ref, strict_tls=not local))
