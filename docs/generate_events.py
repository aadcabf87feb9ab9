"""Write docs/events.md from the events' own docstrings: `uv run python docs/generate_events.py`."""  # noqa: INP001 - a script

import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

from packbelt.live.observe import events

PAGE = Path(__file__).with_name("events.md")
_HEAD = """# The event log

Written by `docs/generate_events.py` from docstrings in `packbelt.live.observe.events`; a test keeps it so.

`packbelt.open(events=...)`, `packbelt serve --events FILE` and `packbelt call --events FILE` write one line
of JSON for each thing that happens. A file is made with mode 0600 and appended to, a whole line at a time, so
that several processes may share it. A log that fails harms no call: it is switched off, and the logger
`packbelt.events` says so once.

Keys without a value are left out. What tools are called with and what they answer is there only where
`EventLog(sink, arguments=True)` asks for it, at most 2,000 bytes of each. The values of the servers' secrets
are masked everywhere.

Every line has `kind`, and `time`: ISO 8601 in UTC, with milliseconds.
"""
_ATTRIBUTE = re.compile(r"^    (\w+): (.+?)(?=^    \w+: |\Z)", re.MULTILINE | re.DOTALL)


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(_part(kind) for kind in get_args(events.Event))])


def _part(kind: type[events.Event]) -> str:
    doc = inspect.cleandoc(kind.__doc__ or "")
    summary, _, listed = doc.partition("\n\nAttributes:\n")
    told = {name: " ".join(text.split()) for name, text in _ATTRIBUTE.findall(listed)}
    names = [entry.name for entry in fields(kind) if entry.name != "time"]
    rows = "\n".join(f"| `{name}` | {told[name]} |" for name in names)
    return f"## `{kind.kind}`\n\n{summary}\n\n| key | what |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
