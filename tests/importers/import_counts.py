"""Imports a directory of other people's files, counts the outcomes, and checks that nothing is widened.

Not a test, but one runs it: `python tests/importers/import_counts.py DIRECTORY`, where the directory holds
`agents/<source>/**/*.md` and `mcpjson/*.json`. The check reads the sources by itself and shares nothing with
the product but the folder it writes.
"""

# ruff: noqa: T201 - a script that prints its counts
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from packbelt.catalog import load
from packbelt.importers import Client, Kind, Outcome, gather, write
from packbelt.model import Level, PackbeltError

WORD = re.compile(r"[A-Za-z_*][\w.*:-]*(?:\([^)]*\))?")
EDITED = ("mcpServers", "mcp_servers", "hooks", "permissionMode", "name")


def front(text):
    """The lines of the front matter."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if not lines or lines[0].rstrip() != "---":
        return []
    ends = [i for i, line in enumerate(lines) if i and line.rstrip() == "---"]
    return lines[1 : ends[0]] if ends else []


def written(lines, key):
    """The words of a list as they stand in a text; None where the key is not there."""
    for i, line in enumerate(lines):
        if line.lower().replace("_", "").replace("-", "").startswith(f"{key}:"):
            block = [line.split(":", 1)[1]]
            for more in lines[i + 1 :]:
                if not re.match(r"\s*-|\s+\S", more):
                    break
                block.append(more)
            return set(WORD.findall(" ".join(block)))
    return None


def widened_agent(before, after):
    """What an agent's new file grants and its old one did not, or no longer denies; both are texts."""
    old, new = front(before), front(after)
    faults = []
    for key in ("tools", "disallowedtools"):
        was, now = written(old, key), written(new, key)
        if key == "tools" and ((was is None) != (now is None) or (now or set()) - (was or set())):
            faults.append(f"tools {was} became {now}")
        if key == "disallowedtools" and (was or set()) - (now or set()):
            faults.append(f"denied {was} became {now}")
    return faults


def maps(node):
    """Every object of a document, with the name that it stands under."""
    if isinstance(node, dict):
        for name, child in node.items():
            yield name, child
            yield from maps(child)
    elif isinstance(node, list):
        for child in node:
            yield (child.get("name") if isinstance(child, dict) else None), child
            yield from maps(child)


def widened_server(name, entry, source):
    """How an entry says more than its source: another program, another host, a server that was off."""
    if entry == {"disabled": True}:
        return []
    found = [raw for called, raw in maps(source) if called == name and isinstance(raw, dict)]
    if not found:
        return [f"server {name!r} stands nowhere in the source"]
    faults = []
    commands = [raw.get("command") for raw in found]
    commands += [command[0] for command in commands if isinstance(command, list) and command]
    if entry.get("command") is not None and entry["command"] not in commands:
        faults.append(f"server {name!r} runs {entry['command']!r}")
    urls = [raw.get(key) for raw in found for key in ("url", "serverUrl", "httpUrl")]
    if entry.get("url") and not any(
        isinstance(u, str) and u.split("/")[2:3] == entry["url"].split("/")[2:3] for u in urls
    ):
        faults.append(f"server {name!r} is reached at {entry['url']!r}")
    off = any(raw.get("disabled") is True or raw.get("enabled") is False for raw in found)
    if off and entry.get("disabled") is not True:
        faults.append(f"server {name!r} was off")
    return faults


def reason(problem):
    """A reason without what differs from file to file."""
    problem = re.sub(r"[\w./+@-]+\.md has the same name", "another file has the same name", problem)
    return re.sub(r"['`][^'`]*['`]|\d+", "_", problem)


class Count:
    """Outcomes of a set of files."""

    def __init__(self, name):
        self.name = name
        self.files = 0
        self.outcomes = Counter()
        self.reasons = Counter()
        self.faults = []

    def add(self, item):
        self.outcomes[item.outcome] += 1
        if item.outcome is Outcome.REFUSED:
            self.reasons[reason(item.remarks[0].message)] += 1
            if not all(one.message and item.where.file for one in item.remarks):
                self.faults.append(f"{item.where}: refused without a reason")

    def row(self):
        counts = [self.outcomes[outcome] for outcome in Outcome]
        return (
            f"{self.name:<42} {self.files:>5}"
            + "".join(f" {count:>12}" for count in counts)
            + f" {len(self.faults):>8}"
        )


def import_and_prove(path, count, **how):
    """Import a path into a directory of its own; what was written must load without an error."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        found = gather(path, target, home=Path("/home/nobody"), **how)
        write(found.files, target)
        workspace = load(target)
        count.faults += [
            f"{path}: {one.message}" for one in workspace.diagnostics if one.level is Level.ERROR
        ]
        return found


def agents(directory):
    for source in sorted(path for path in directory.iterdir() if path.is_dir()):
        count = Count(f"agents/{source.name}")
        paths = [path for path in sorted(source.rglob("*.md")) if path.is_file()]
        count.files = len(paths)
        found = import_and_prove(source, count, client=Client.CLAUDE_CODE)
        spoken = {item.where.file for item in found.report.items}
        pages = {"readme", "changelog", "contributing", "license", "index"}
        for path in paths:
            name = path.relative_to(source).as_posix()
            if name not in spoken and path.stem.lower() not in pages:
                count.faults.append(f"{name}: nothing is said of it")
        for item in found.report.items:
            count.add(item)
            if item.kind is Kind.AGENT and item.became:
                before = (source / item.where.file).read_text("utf-8-sig")
                count.faults += [
                    f"{item.where.file}: {one}" for one in widened_agent(before, found.files[item.became])
                ]
        yield count


def mcpjson(directory):
    count = Count("mcpjson, by server")
    whole = Count("mcpjson, by file")
    for path in sorted(directory.glob("*.json")):
        count.files += 1
        whole.files += 1
        try:
            found = import_and_prove(path, count)
        except PackbeltError as problem:
            count.faults.append(f"{path.name}: {problem}")
            continue
        source = json.loads(path.read_text("utf-8-sig"))
        entries = json.loads(found.files.get(".mcp.json", '{"mcpServers": {}}'))["mcpServers"]
        for name, entry in entries.items():
            count.faults += [f"{path.name}: {one}" for one in widened_server(name, entry, source)]
        outcomes = [item.outcome for item in found.report.items]
        for item in found.report.items:
            (whole if item.kind is Kind.FILE else count).add(item)
        if outcomes and Kind.FILE not in [item.kind for item in found.report.items]:
            whole.outcomes[max(outcomes, key=list(Outcome).index)] += 1
        elif not outcomes:
            whole.outcomes[Outcome.MAPPED] += 1  # an empty map
    return [count, whole]


def counts(directory):
    """The counts of a directory."""
    found = []
    if (directory / "agents").is_dir():
        found += agents(directory / "agents")
    if (directory / "mcpjson").is_dir():
        found += mcpjson(directory / "mcpjson")
    return found


def main(directory):
    found = counts(directory)
    titles = "".join(f" {outcome.value:>12}" for outcome in Outcome)
    print(f"{'what':<42} {'files':>5}{titles} {'faults':>8}")
    for count in found:
        print(count.row())
    reasons = sum((count.reasons for count in found), Counter())
    for text, number in reasons.most_common():
        print(f"    refused {number} x {text}")
    for count in found:
        for fault in count.faults[:20]:
            print(f"    FAULT {count.name}: {fault}")
    return 1 if any(count.faults for count in found) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
