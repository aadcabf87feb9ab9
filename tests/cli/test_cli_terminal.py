"""What a terminal shows: nothing after a line's last letter, and no empty line first."""

import os
import re
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
PADDED = re.compile(r" (?:\x1b\[[0-9;]*m)*$")


@pytest.mark.parametrize(
    "args", [["dump"], ["dump", "orchestrator"], ["explain", "orchestrator", "clock"], ["check"]]
)
def test_lines_end_where_their_words_do(fleet, args):
    import pty

    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if not k.startswith("PACKBELT")}
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "packbelt", *args, "-w", str(fleet)],
        env | {"TERM": "xterm-256color", "COLUMNS": "100"},
        file_actions=[(os.POSIX_SPAWN_DUP2, theirs, 1)],
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # how a pseudo-terminal says that the other end is closed
        pass
    os.close(ours)
    os.waitpid(pid, 0)
    lines = seen.decode().replace("\r", "").splitlines()
    assert len(lines) > 5
    assert lines[0]
    assert "\x1b[" in lines[0]
    assert [line for line in lines if PADDED.search(line)] == []
