"""What authorization servers granted: kept in one file of the user's, or in the system's keyring.

The file is `tokens.json` beside `trust.json`: mode 0600 from its first byte, replaced whole or not at all,
and refused where anybody else can read or write it. `PACKBELT_TOKENS=keyring` keeps the same in the system's
keyring, by the package `keyring`. A grant belongs to one server's address, in one workspace directory, under
one name: two workspaces, or two entries for two accounts, never share one. To revoke a grant, delete its
entry, or the file; to revoke it everywhere, do so at whoever granted it.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from filelock import FileLock, Timeout
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from pydantic import BaseModel, ValidationError

from packbelt.live import private
from packbelt.live.secret import Secret
from packbelt.live.trust import config_directory
from packbelt.model import PackbeltError, Where

if TYPE_CHECKING:
    from types import ModuleType

VARIABLE = "PACKBELT_TOKENS"
"""Where grants are kept: `file` (the default) or `keyring`."""
SERVICE = "packbelt"
"""The service under which the keyring holds them; the user name there is `Account.key`."""
_VERSION = 1
_MAX_FILE = 4 << 20
_LOCK_TIME = 5


class TokenError(PackbeltError):
    """Grants cannot be read or kept. Says nothing of what they hold."""


@dataclass(frozen=True, slots=True)
class Account:
    """Whose grant it is.

    Attributes:
        server: the server's name.
        directory: the workspace's directory, resolved.
        url: the server's address, its placeholders filled in.
    """

    server: str
    directory: Path
    url: Secret

    @property
    def key(self) -> str:
        """Server, directory and address as one SHA-256: an address may hold a secret."""
        parts = json.dumps([self.server, str(self.directory), self.url.reveal()])
        return hashlib.sha256(parts.encode()).hexdigest()


class Grant(BaseModel):
    """What one authorization server granted, with what a refresh needs to know; prints without a value.

    Attributes:
        tokens: as the token endpoint gave them.
        expires_at: when the access token expires, in seconds since 1970; None where it was not said.
        client: the registration that the tokens belong to.
        metadata: the authorization server's endpoints.
        resource: the protected resource's description.
    """

    tokens: OAuthToken
    expires_at: float | None = None
    client: OAuthClientInformationFull | None = None
    metadata: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None

    def __repr__(self) -> str:
        return "<grant>"

    __str__ = __repr__


class TokenStore(Protocol):
    """Keeps grants. Both methods block; both raise `TokenError`."""

    def get(self, account: Account) -> Grant | None:
        """The account's grant; None if there is none."""

    def put(self, account: Account, grant: Grant) -> None:
        """Keep the account's grant in place of the one before."""


def user_store(environ: Mapping[str, str] | None = None) -> TokenStore:
    """Where the user whose environment this is keeps grants; the process's by default.

    Raises:
        TokenError: `PACKBELT_TOKENS` names no place, or the keyring's package is not installed.
    """
    environ = os.environ if environ is None else environ
    chosen = environ.get(VARIABLE) or "file"
    if chosen == "file":
        return FileStore(config_directory(environ) / "tokens.json")
    if chosen == "keyring":
        return KeyringStore()
    # The value is not shown: somebody may have put a token there.
    raise TokenError(f"{VARIABLE} names no place for tokens", mend=f"set {VARIABLE} to file or to keyring")


@dataclass(frozen=True, slots=True)
class FileStore:
    """Grants in one file of mode 0600."""

    file: Path

    def get(self, account: Account) -> Grant | None:
        """The account's grant; None if there is none.

        Raises:
            TokenError: others can read or write the file, or it is not what it should be.
        """
        entry = self._entries().get(account.key)
        return _grant(entry.get("grant")) if isinstance(entry, dict) else None

    def put(self, account: Account, grant: Grant) -> None:
        """Keep the account's grant in place of the one before.

        Raises:
            TokenError: the file cannot be read or written.
        """
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the lock's too
            # Of two processes that write at once one would lose its tokens.
            with FileLock(self.file.with_suffix(".lock"), timeout=_LOCK_TIME, mode=0o600):
                entries = self._entries()
                entries[account.key] = {
                    "server": account.server,
                    "directory": str(account.directory),
                    "grant": _plain(grant),
                }
                kept = {"version": _VERSION, "grants": entries}
                private.replace(self.file, json.dumps(kept, indent=2, sort_keys=True) + "\n")
        except Timeout:
            raise self._error("another process holds it", "end that process") from None
        except OSError as error:
            raise self._error(f"it cannot be written: {error.strerror}", "check the directory") from None

    def _entries(self) -> dict[str, Any]:
        try:
            with self.file.open("rb") as file:
                self._check(os.fstat(file.fileno()))
                raw = file.read(_MAX_FILE + 1)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._error(f"it cannot be read: {error.strerror}", "check its permissions") from None
        entries = _entries_of(raw)
        if entries is None:
            raise self._error("it is not a token file of this version", "remove it, and authorize anew")
        return entries

    def _check(self, status: os.stat_result) -> None:
        if private.others_can_use(status):
            raise self._error("others can read or write it", "make it yours alone (chmod 600)")
        if private.others_can_enter(self.file.parent):
            raise self._error("others can write its directory", "make the directory yours alone (chmod 700)")

    def _error(self, problem: str, mend: str) -> TokenError:
        return TokenError(f"the token file cannot be used: {problem}", where=Where(str(self.file)), mend=mend)


@dataclass(frozen=True, slots=True)
class KeyringStore:
    """Grants in the system's keyring, by the package `keyring`.

    Raises:
        TokenError: the package is not installed.
    """

    def __post_init__(self) -> None:
        _keyring()

    def get(self, account: Account) -> Grant | None:
        """The account's grant; None if there is none.

        Raises:
            TokenError: there is no keyring, or it stays locked.
        """
        ring = _keyring()
        try:
            kept = ring.get_password(SERVICE, account.key)
        except ring.errors.KeyringError as error:
            raise _unusable(type(error)) from None
        if kept is None:
            return None
        try:
            data = json.loads(kept)
        except (ValueError, RecursionError):
            return None
        return _grant(data)

    def put(self, account: Account, grant: Grant) -> None:
        """Keep the account's grant in place of the one before.

        Raises:
            TokenError: there is no keyring, or it stays locked.
        """
        ring = _keyring()
        try:
            ring.set_password(SERVICE, account.key, json.dumps(_plain(grant)))
        except ring.errors.KeyringError as error:
            raise _unusable(type(error)) from None


def _keyring() -> "ModuleType":
    try:
        import keyring  # noqa: PLC0415 - an optional package
        import keyring.errors  # noqa: PLC0415
    except ImportError:
        raise TokenError(
            f"{VARIABLE}=keyring needs the package `keyring`", mend="pip install 'packbelt[keyring]'"
        ) from None
    return keyring


def _unusable(kind: type[Exception]) -> TokenError:
    return TokenError(
        f"the keyring cannot be used ({kind.__name__})",
        mend=f"unlock it, or set {VARIABLE} to file",
    )


def _plain(grant: Grant) -> dict[str, Any]:
    return grant.model_dump(mode="json", exclude_none=True)


def _grant(data: object) -> Grant | None:
    """The grant that was kept; None if it cannot be read: the user is asked anew."""
    try:
        return Grant.model_validate(data)
    except ValidationError:  # its message holds what it could not read
        return None


def _entries_of(raw: bytes) -> dict[str, Any] | None:
    """The file's entries by key; None if it is no file of grants."""
    try:
        data = json.loads(raw) if len(raw) <= _MAX_FILE else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        return None
    entries = data.get("grants")
    return entries if isinstance(entries, dict) else None
