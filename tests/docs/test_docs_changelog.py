"""CHANGELOG.md has the version that is shipped, with its date, below what is not released yet."""

import re

from pages import ROOT

from packbelt import __version__


def test_the_version_stands_in_the_changelog_with_its_date():
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads[0] == "Unreleased"
    assert re.fullmatch(re.escape(__version__) + r" - \d{4}-\d\d-\d\d", heads[1])
