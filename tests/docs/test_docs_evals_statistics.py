"""docs/evals-statistics.md names every rule with its own sentence, and its commands parse."""

from pages import ROOT, codes, packbelt_commands, parses, table

from packbelt.evals.judge.gate import RULES
from packbelt.evals.judge.paired import Finding

PAGE = ROOT / "docs/evals-statistics.md"


def test_every_rule_has_its_row_with_its_own_sentence():
    assert [(codes(row[0])[0].partition(":")[0], row[1]) for row in table(PAGE, "rules")] == list(
        RULES.items()
    )


def test_every_finding_has_its_row():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"\n| `{finding}` | p" in text for finding in Finding)


def test_the_commands_parse():
    commands = packbelt_commands(PAGE)
    assert len(commands) == 6
    assert all(parses(words) for words in commands)
