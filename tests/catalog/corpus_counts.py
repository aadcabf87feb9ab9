"""Counts outcomes over a directory of other people's files, and checks that nothing is widened.

Not a test: `python tests/catalog/corpus_counts.py DIRECTORY`, where the directory holds any of `agents/`,
`mcpjson/`, `skills/` and `snapshots/` as described in its own notes. Each source of agents and each folder
of skills is copied into a workspace of its own.
"""

# ruff: noqa: T201 - a script that prints its counts
import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from packbelt.catalog import Snapshot, Workspace, load
from packbelt.model import PackbeltError
from packbelt.model.encode import canonical

WORD = re.compile(r"[A-Za-z_][\w.*:-]*(?:\([^)]*\))?|\*")


def front(text: str) -> list[str]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return []
    ends = [i for i, line in enumerate(lines) if i and line.rstrip() == "---"]
    return lines[1 : ends[0]] if ends else lines[1:]


def written(lines: list[str], key: str) -> set[str] | None:
    """Words of a list as they stand in the text, by a reader that shares nothing with the product."""
    for i, line in enumerate(lines):
        if line.lower().replace("_", "").startswith(f"{key}:"):
            block = [line.split(":", 1)[1]]
            for more in lines[i + 1 :]:
                if not re.match(r"\s*-|\s+\S", more):
                    break
                block.append(more)
            return set(WORD.findall(" ".join(block)))
    return None


def claude_spelling(selector: str) -> str:
    server, slash, tool = selector.partition("/")
    return f"mcp__{server}__{tool}" if slash else selector


def configure(root: Path) -> None:
    """An `.mcp.json` with every server that the agents' lists name, so that their entries resolve."""
    named: set[str] = set()
    for path in (root / ".claude").rglob("*.md"):
        named |= {
            name.split("__")[1]
            for name in written(front(path.read_text("utf-8-sig")), "tools") or ()
            if name.startswith("mcp__")
        }
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "none"} for name in named}}))


def widened(workspace: Workspace, root: Path) -> list[str]:
    """Agents whose file says less than what was read."""
    faults = []
    for agent in workspace.agents.values():
        if not agent.file:
            continue
        lines = front((root / agent.file).read_text("utf-8-sig"))
        allowed = written(lines, "tools")
        if (agent.tools is None) != (allowed is None):
            faults.append(f"{agent.file}: tools {agent.tools!r}, written {allowed!r}")
        if allowed is not None and agent.tools is not None:
            whole = {f"{name}__*" for name in allowed if name.count("__") == 1}
            extra = {claude_spelling(str(s)) for s in agent.tools} - allowed - whole
            faults += [f"{agent.file}: {name!r} is not written" for name in extra]
        denied = written(lines, "disallowedtools") or set()
        got = {str(s) for s in agent.disallowed_tools}
        faults += [f"{agent.file}: deny {name!r} is lost" for name in denied if name.split("(")[0] not in got]
        if agent.delegates:
            faults.append(f"{agent.file}: delegates {agent.delegates!r}")
    return faults


def reason(problem: str) -> str:
    problem = re.sub(r"agent '[^']*': ", "", problem)
    problem = re.sub(r"skill '[^']*'(: | )", "", problem)
    problem = re.sub(r"[\w./+@-]+\.md has the same name", "another file has the same name", problem)
    return re.sub(r"['`][^'`]*['`]|\d+", "_", problem)


def agents(directory: Path) -> None:
    for source in sorted(p for p in directory.iterdir() if p.is_dir()):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            # Hidden folders are not read in place, so the copy shows them.
            for path in sorted(source.rglob("*.md")):
                parts = [part.lstrip(".") or part for part in path.relative_to(source).parts]
                target = root / ".claude" / "agents" / Path(*parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            configure(root)
            workspace = load(root)
            files = len(list((root / ".claude").rglob("*.md")))
            resolved = sum("/" in str(s) for a in workspace.agents.values() for s in a.tools or ())
            codes = Counter(str(d.code) for d in workspace.diagnostics)
            reasons = Counter(reason(d.message) for d in workspace.diagnostics if d.code == "agent.broken")
            loaded = sum(1 for a in workspace.agents.values() if a.file)
            print(
                f"agents {source.name}: {files} files, {loaded} loaded, {len(workspace.broken)} broken; {dict(codes)}"
            )
            for text, count in reasons.most_common():
                print(f"    {count} x {text}")
            faults = widened(workspace, root)
            print(f"    {resolved} entries resolved to servers' tools; widened: {len(faults)}")
            for fault in faults[:20]:
                print(f"    FAULT {fault}")


def mcpjson(directory: Path) -> None:
    codes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    files = servers = empty = 0
    for path in sorted(directory.glob("*.json")):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(path, Path(folder) / ".mcp.json")
            workspace = load(folder)
            files += 1
            servers += len(workspace.servers)
            empty += not workspace.servers
            codes.update(str(d.code) for d in workspace.diagnostics)
            reasons.update(
                reason(d.message)
                for d in workspace.diagnostics
                if d.code in ("server.broken", "server.ignored")
            )
    print(f"mcpjson: {files} files, {servers} servers, {empty} files without; {dict(codes)}")
    for text, count in reasons.most_common():
        print(f"    {count} x {text}")


def skills(directory: Path) -> None:
    codes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    files = loaded = 0
    for parent in sorted({path.parent.parent for path in directory.rglob("SKILL.md")}):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "packbelt.yaml").touch()
            for path in sorted(parent.glob("*/SKILL.md")):
                target = root / "skills" / (path.parent.name.lstrip(".") or "_")
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / "SKILL.md")
                files += 1
            workspace = load(root)
            loaded += len(workspace.skills)
            codes.update(str(d.code) for d in workspace.diagnostics)
            reasons.update(reason(d.message) for d in workspace.diagnostics if d.code == "skill.broken")
    print(f"skills: {files} files, {loaded} loaded; {dict(codes)}")
    for text, count in reasons.most_common():
        print(f"    {count} x {text}")


def snapshots(directory: Path) -> None:
    for path in sorted(directory.glob("*.json")):
        snapshot = Snapshot.from_file(path)
        again = Snapshot.from_data(snapshot.to_data())
        same = canonical(again.to_data()) == canonical(snapshot.to_data())
        tools = sum(len(state.tools) for state in snapshot.servers.values())
        remarks = Counter(str(d.code) for state in snapshot.servers.values() for d in state.diagnostics)
        print(
            f"snapshot {path.name}: {len(snapshot.servers)} servers, {tools} tools, round trip {same}; {dict(remarks)}"
        )


def main(directory: Path) -> None:
    for name, count in (
        ("agents", agents),
        ("mcpjson", mcpjson),
        ("skills", skills),
        ("snapshots", snapshots),
    ):
        if (directory / name).is_dir():
            try:
                count(directory / name)
            except PackbeltError as problem:
                print(f"FAULT {name}: {problem}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
