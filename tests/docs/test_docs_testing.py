"""What docs/testing.md shows is so."""

import inspect

from pages import ROOT, codes, fences

from packbelt.testing import plugin

PAGE = ROOT / "docs/testing.md"


def test_the_example_in_memory_runs():
    (text,) = (
        text for language, _, text in fences(PAGE) if language == "python" and "make_workspace(" in text
    )
    exec(compile(text, str(PAGE), "exec"), {})


def test_every_fixture_and_setting_is_documented():
    said = " ".join(codes(PAGE.read_text()))
    fixtures = [
        name for name, found in vars(plugin).items() if type(found).__name__ == "FixtureFunctionDefinition"
    ]
    assert sorted(fixtures) == ["assert_belt", "assert_reachable", "belt", "packbelt_snapshot", "workspace"]
    assert [name for name in fixtures if name not in said] == []
    settings = [
        word.strip(chr(34))
        for word in inspect.getsource(plugin).split()
        if word.startswith(chr(34) + "packbelt_")
    ]
    assert settings == ["packbelt_workspace", "packbelt_snapshot_file"]
    assert [name for name in settings if name not in PAGE.read_text()] == []
