"""docs/toolkits.md names every tool of the toolkits, with the permission that the shipped packs give it."""

from pages import ROOT, codes, fences

import packbelt
from packbelt import toolkits

PAGE = ROOT / "docs" / "toolkits.md"


def listed():
    """Permission by tool; `_browse` after `skill_registry_sources` is `skill_registry_browse`."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| `") or len(cells) != 3:
            continue
        first, *others = codes(cells[0])
        prefix = first.rpartition("_")[0]
        for name in [first, *(prefix + one if one.startswith("_") else one for one in others)]:
            found[name] = cells[2]
    return found


def test_every_tool_is_listed_with_its_permission(tmp_path):
    made = [*toolkits.skills(tmp_path), *toolkits.mcp_registry(tmp_path, registry="http://127.0.0.1:9")]
    shipped = {tool.name: str(tool.permission) for tool in packbelt.load(ROOT).tools}
    assert listed() == {function.__name__: shipped[function.__name__] for function in made}


def test_its_examples_are_python():
    examples = [text for language, _, text in fences(PAGE) if language == "python"]
    assert len(examples) == 2
    for text in examples:
        compile(text, PAGE.name, "exec")
