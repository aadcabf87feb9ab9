"""The workspaces of the report: its pack tables before and after the fix, and edits of the shipped one.

Workspaces are immutable, so that those which no test edits are read once.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from packbelt.catalog.load import load
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Skill, Workspace

ROOT = Path(__file__).parents[2]
TABLES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))
RESERVED = ("integrations", "skills")

Edit = Callable[[str], str]


def copied(target: Path) -> Path:
    """The shipped workspace, as a project of its own."""
    shutil.copytree(ROOT / "packs", target / "packs")
    shutil.copytree(ROOT / "prompts", target / "prompts")
    shutil.copy(ROOT / "packbelt.yaml", target / "packbelt.yaml")
    return target


def from_table(state: str, target: Path) -> Workspace:
    """A workspace with the packs, members and owners of one of the tables, nothing promoted."""
    copied(target)
    defined = {}
    for file in sorted((target / "packs").glob("*.yaml")):
        pack = yaml.safe_load(file.read_text(encoding="utf-8"))
        defined[pack["id"]] = pack
    members = {
        tool["name"]: tool for pack in defined.values() for tool in pack["tools"] if isinstance(tool, dict)
    }
    for row in TABLES[state]:
        pack = {
            "id": row["id"],
            "summary": defined[row["id"]]["summary"],
            "access": "owners" if row["id"] in RESERVED else "open",
            "owners": row["owners"],
            "direct": [],
            "tools": [members.get(name, name) for name in row["tools"]],
        }
        text = yaml.safe_dump(pack, sort_keys=False, allow_unicode=True)
        (target / "packs" / f"{row['id']}.yaml").write_text(text, encoding="utf-8")
    return load(target)


@pytest.fixture(scope="session")
def before(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The table before the fix: the four hand-offs lie in the packs of their own specialists."""
    return from_table("seed_state", tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="session")
def after(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The table after the fix: the four hand-offs are in no pack."""
    return from_table("after_fix_6304", tmp_path_factory.mktemp("after"))


@pytest.fixture(scope="session")
def embedded() -> Workspace:
    """The shipped workspace."""
    return load(ROOT)


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[Mapping[str, Edit]], Workspace]:
    """The shipped workspace with edits of some of its files; each must change its file."""

    def build(edits: Mapping[str, Edit]) -> Workspace:
        target = copied(tmp_path / f"edited{len(list(tmp_path.iterdir()))}")
        for name, edit in edits.items():
            file = target / name
            old = file.read_text(encoding="utf-8")
            new = edit(old)
            assert new != old
            file.write_text(new, encoding="utf-8")
        return load(target)

    return build


@pytest.fixture
def now() -> Snapshot:
    """The account of the report: a UUID server and a weather server connected, a skill installed."""
    skill = Skill("dynamic-workflow", "Turns a goal into a workflow.", "skills/dynamic-workflow")
    schema = {"type": "object", "properties": {}}
    uuid = {"name": "generate", "description": "Generates a UUID.", "inputSchema": schema}
    weather = {"name": "forecast", "description": "Tells the weather.", "inputSchema": schema}
    return Snapshot(skills=(skill,)).connect("uuid", [uuid]).connect("weather", [weather])
