import json
import signal
import subprocess
import sys

import pytest
from live_helpers import FAKE

SCRIPT = """
import json, sys
from pathlib import Path
from packbelt.catalog.workspace import Config, ServerSpec, Workspace
from packbelt.live.servers.connect import connect_now
python, fake, config = sys.argv[1:]
specs = [
    ServerSpec("plain", "stdio", command=python, args=("-S", fake, config)),
    ServerSpec("wrapped", "stdio", command="sh", args=("-c", '"$0" -S "$1" "$2" & wait', python, fake, config)),
]
connect_now(Workspace(Path("/"), False, Config(), {}, {}, {}, {}, {}, (), (), {}), specs)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_ending_signal_cleans_up_first(pids, number, code):
    config = json.dumps({"pids": str(pids.file), "era": "mute", "deaf": True})
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, sys.executable, str(FAKE), config], stderr=subprocess.PIPE
    ) as process:
        pids.wait_for(2)
        process.send_signal(number)
        errors = process.communicate(timeout=20)[1].decode()
    assert process.returncode == code
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    pids.assert_gone(2)
