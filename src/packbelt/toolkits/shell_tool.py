"""The tool `shell`, by which a skill's scripts are run: in its folder, bounded, with a minimal environment.

A command line is run as it stands, with all that the user may do: this is no sandbox. What bounds it is who
may call it (`permission: execute`), the time, and that nothing of it goes on after its end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packbelt.catalog.natives import tool
from packbelt.live.environment import inherited
from packbelt.toolkits.limits import ToolkitError
from packbelt.toolkits.process import run

SECONDS = 120
MOST_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs command lines in a directory.

    Args:
        root: the working directory; a command runs in it or below.
        env: variables beside the minimal environment.
        keep: bytes kept of the beginning, and as many of the end, of each stream.
    """

    root: Path
    env: Mapping[str, str]
    keep: int

    def tools(self) -> list[Callable[..., Any]]:
        """The tool, for `packbelt.load(..., tools=...)`."""
        return [self.shell]

    @tool(permission="execute")
    async def shell(self, command: str, cwd: str = ".", timeout_seconds: int = SECONDS) -> dict[str, Any]:
        """Runs one shell command in the working directory or below; returns exit code, stdout and stderr."""
        root = self.root.resolve()
        folder = (root / cwd).resolve()
        if not folder.is_relative_to(root):
            raise ToolkitError(f"{cwd!r} is outside the working directory", mend="give a folder in it")
        seconds = min(max(timeout_seconds, 1), MOST_SECONDS)
        ended = await run(
            ["/bin/sh", "-c", command],
            env={**inherited(), **self.env},
            cwd=folder,
            seconds=seconds,
            keep=self.keep,
        )
        answer = {"exit_code": ended.exit_code, "stdout": ended.stdout, "stderr": ended.stderr}
        if ended.exit_code is None:
            answer["problem"] = f"it did not end within {seconds} seconds and was killed, with all it started"
        return answer
