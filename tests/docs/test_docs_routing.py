"""README.md's tables of routing requests are what their results files say."""

import importlib.util

from pages import README, ROOT


def test_the_tables_are_made_of_the_kept_results():
    spec = importlib.util.spec_from_file_location("generate_routing", ROOT / "docs/generate_routing.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shown = README.read_text(encoding="utf-8").split(script.BEGIN)[1].split(script.END)[0]
    played = script.plays(script.FOLDER.glob("*.jsonl*"))
    assert shown == script.table(played)
    assert {one.trial.suite for one in played} <= {
        suite for fleet in script.FLEETS.values() for suite in fleet
    }
