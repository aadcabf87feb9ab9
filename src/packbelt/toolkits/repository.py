"""One commit of a git repository as a tar file: no checkout, so no hook, filter or submodule ever runs."""

import re
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.to_thread

from packbelt.live.environment import inherited
from packbelt.toolkits.address import Source, is_url
from packbelt.toolkits.limits import Limits, ToolkitError
from packbelt.toolkits.process import Ended, run

_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z")
_WATCH = 0.2  # seconds between two looks at what has arrived
_BYTES = "* -export-ignore -export-subst -text -eol -ident -filter -working-tree-encoding\n"
"""Attributes over the repository's own: every file, with the bytes that were committed."""
_SAFE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "credential.helper="),
    *("-c", "fetch.recurseSubmodules=no"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false"),
)


def environment(extra: Mapping[str, str], *, local: bool) -> dict[str, str]:
    """Git's whole environment: nobody's configuration, no prompt, and no transport that runs a command."""
    return inherited() | {
        **extra,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes",
        "GIT_ALLOW_PROTOCOL": "https:ssh:http:file" if local else "https:ssh",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }


async def fetch(source: Source, out: Path, limits: Limits, extra: Mapping[str, str]) -> str:
    """Fetch one commit, without its history, into a tar file.

    Args:
        source: a repository.
        out: where the tar file goes; its folder is also git's workshop.
        limits: what may be fetched, and for how long.
        extra: variables for git beside its minimal environment, such as a proxy's.

    Returns:
        The commit.

    Raises:
        ToolkitError: it cannot be fetched, or is too large.
    """
    local = not is_url(source.address) or not source.strict_tls
    env = environment(extra, local=local)
    workshop = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix=".git-", dir=out.parent)))

    async def git(*args: str) -> str:
        """Run git, and end it where what it writes grows too large: a pack or a tar file may be a bomb."""
        argv = ["git", *_SAFE, "--git-dir", str(workshop / "r"), *args]
        ended = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch, out.parent, limits.source_bytes, tasks.cancel_scope)
            ended = await run(argv, env=env, cwd=workshop, seconds=limits.seconds)
            tasks.cancel_scope.cancel()
        if ended is None or await anyio.to_thread.run_sync(_size, out.parent) > limits.source_bytes:
            raise ToolkitError(f"the repository has more than {limits.source_bytes:,} bytes")
        return _checked(source, ended, limits)

    try:
        await git("init", "--quiet", "--bare", "--template=", str(workshop / "r"))
        info = anyio.Path(workshop / "r" / "info")
        await info.mkdir(exist_ok=True)
        await (info / "attributes").write_text(_BYTES)
        what = ("--end-of-options", source.address, source.ref or "HEAD")
        await git("fetch", "--quiet", "--depth=1", "--no-tags", *what)
        commit = (await git("rev-parse", "--verify", "FETCH_HEAD^{commit}")).strip()
        if not _COMMIT.match(commit):
            raise ToolkitError(f"git calls {commit!r} a commit")
        await git("archive", "--format=tar", f"--output={out}", commit)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(workshop, ignore_errors=True))
    return commit


async def _watch(folder: Path, limit: int, writing: anyio.CancelScope) -> None:
    while await anyio.to_thread.run_sync(_size, folder) <= limit:  # noqa: ASYNC110 - a folder sets no event
        await anyio.sleep(_WATCH)
    writing.cancel()


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            found = path.lstat()
        except OSError:  # git renames its packs
            continue
        total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total


def _checked(source: Source, ended: Ended, limits: Limits) -> str:
    if ended.exit_code is None:
        raise ToolkitError(f"git did not end within {limits.seconds:g} seconds")
    if ended.exit_code:
        lines = [line for line in ended.stderr.splitlines() if line.strip()] or ["git failed"]
        said = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1])
        raise ToolkitError(f"{source.address} cannot be fetched: {said.strip()[:300]}")
    return ended.stdout
