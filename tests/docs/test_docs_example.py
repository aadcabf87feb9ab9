"""docs/examples/first-workspace is clean, and shows what its comments say."""

import re
import shutil

import pytest
from pages import EXAMPLE, README, ROOT

import packbelt
from packbelt.checks import run


@pytest.fixture
def workspace(tmp_path):
    """A copy that lies in no other workspace."""
    return packbelt.load(shutil.copytree(EXAMPLE, tmp_path / "first-workspace"))


def state(workspace, agent, tool):
    return packbelt.turn(workspace, None, agent).belt[tool].state


def test_it_checks_clean(workspace):
    assert run(workspace) == ()


def test_it_is_small():
    files = [path for path in EXAMPLE.rglob("*") if path.is_file()]
    assert len(files) == 7
    assert sum(len(path.read_text().splitlines()) for path in files) < 250


def test_every_file_of_it_but_the_skill_has_a_comment():
    for path in EXAMPLE.rglob("*"):
        if path.suffix in (".yaml", ".md") and path.name != "SKILL.md":
            assert re.search(r"(^|\s)# \w", path.read_text()), path


@pytest.mark.parametrize(
    ("agent", "tool", "expected"),
    [
        ("orchestrator", "ask_billing", "direct"),  # promoted
        ("orchestrator", "invoice_find", "reserved"),
        ("orchestrator", "event_create", "packed"),
        ("orchestrator", "delegate_to_letter_writer", "direct"),
        ("billing_agent", "refund_create", "direct"),  # owned
        ("billing_agent", "event_create", "off_belt"),
        ("letter_writer", "free_times", "direct"),  # named exactly
        ("letter_writer", "event_create", "off_belt"),
    ],
)
def test_states(workspace, agent, tool, expected):
    assert state(workspace, agent, tool) == expected


def test_the_hand_off_is_the_route_to_a_reserved_tool(workspace):
    turn = packbelt.turn(workspace, None, "orchestrator")
    refused = turn.resolve("refund_create", {"invoice": "7", "amount": 5, "reason": "late"})
    assert isinstance(refused, packbelt.Refusal)
    assert [offer.tool for offer in refused.hint.suggestions] == ["ask_billing"]


def test_a_refund_waits_for_a_person(workspace):
    turn = packbelt.turn(workspace, None, "billing_agent")
    call = turn.resolve("refund_create", {"invoice": "7", "amount": 5, "reason": "late"})
    assert call.approve


def test_packing_saves_more_than_the_opener_and_its_section_cost(workspace):
    cost = packbelt.turn(workspace, None, "orchestrator").cost
    assert cost.tools + cost.sections < cost.if_unpacked


def test_skills_as_the_agents_say(workspace):
    assert "house-style" in packbelt.turn(workspace, None, "letter_writer").prompt
    assert "house-style" not in packbelt.turn(workspace, None, "billing_agent").prompt


def test_commented_defaults_are_the_defaults(tmp_path):
    config = packbelt.load(EXAMPLE).config
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "packbelt.yaml").write_text("")
    default = packbelt.load(empty).config
    for key in ("orchestrator", "default_tools", "ceiling"):
        assert getattr(config, key) == getattr(default, key)


def test_links_of_the_pages_lead_somewhere():
    for page in (README, *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        anchors = {
            re.sub(r"[^\w\- ]", "", line.lstrip("# ")).strip().lower().replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("#")
        }
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if link.startswith("#"):
                assert link[1:] in anchors, f"{page.name}: {link}"
            elif "://" not in link:
                assert (page.parent / link.partition("#")[0]).exists(), f"{page.name}: {link}"
