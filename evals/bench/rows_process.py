"""Rows about whole processes: the command, the import, the memory."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import monotonic

from bench.table import Row

COMMANDS = {
    "bare": ["-c", "pass"],
    "import": ["-c", "import packbelt"],
    "turn": ["-c", "import packbelt; packbelt.turn, packbelt.Snapshot"],
    "load": ["-c", "import packbelt; packbelt.turn, packbelt.Snapshot, packbelt.load"],
    "help": ["-m", "packbelt", "--help"],
}


def cpu(arguments: list[str]) -> float | None:
    """CPU milliseconds of a Python process and its own children; None if it failed."""
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return (used.ru_utime + used.ru_stime) * 1e3 if child.returncode == 0 else None


def rows(seconds: float) -> list[Row]:
    """The rows."""
    for arguments in COMMANDS.values():
        cpu(arguments)  # writes the byte code
    times: dict[str, list[float | None]] = {name: [] for name in COMMANDS}
    end = monotonic() + seconds
    while len(times["bare"]) < 5 or monotonic() < end:
        for name, arguments in COMMANDS.items():
            times[name].append(cpu(arguments))
    bare = [time for time in times["bare"] if time is not None]

    def over(work: str, name: str, bar: float | None = None, note: str = "") -> Row:
        found = [time for time in times[name] if time is not None]
        if not found:
            return Row(work, None, "ms", bar, note=f"python {' '.join(COMMANDS[name])} failed")
        value, best = median(found) - median(bare), min(found) - min(bare)
        return Row(work, value, "ms", bar, note=note, best=best)

    note = f"bare Python is {median(bare):.0f} ms"
    return [
        over("packbelt --help, CPU over bare Python", "help", 80.0, note),
        over("import packbelt, CPU over bare Python", "import", None, note),
        over("... and of turn and Snapshot", "turn", None, "what a host needs to decide"),
        over("... and of load", "load", None, "what it needs to read files"),
        *_memory(),
    ]


def _memory() -> list[Row]:
    script = Path(__file__).parent / "memory.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it died"])[-1]
        return [Row("memory of 2,000 tools and 50 agents", None, "MB", 150.0, note=reason)]
    said = json.loads(done.stdout)
    imported = f"of pydantic, mcp, jsonschema, yaml, jinja2 imported: {', '.join(said['loaded']) or 'none'}"
    whole = f"whole process, bare Python's {said['bare']:.0f} MB included; {imported}"
    return [
        Row("memory of 2,000 tools and 50 agents, decided", said["decided"], "MB", 150.0, note=whole),
        Row("... and all counted", said["counted"], "MB", note="tiktoken's vocabulary, held once, included"),
    ]
