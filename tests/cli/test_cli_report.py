"""`packbelt report`: a few lines, JSON, or one page that fetches nothing."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import click
import pytest

from packbelt.cli.page import embedded

HOSTILE = "</script><img src=x onerror=alert(1)><!--<script>\u2028\u202e&amp;\udc80"


def data_of(page):
    """What the page knows, read as a browser reads it: up to the first end of the element."""
    start = page.index('id="data">') + len('id="data">')
    return json.loads(page[start : page.index("</script", start)])


def test_without_a_page_it_is_a_few_lines_that_name_the_page(fleet, run):
    done = run(fleet, "report", "--snapshot", "now.yaml")
    assert done.exit_code == 0
    assert done.stdout.startswith("4 agents, 3 packs, 2 servers, 9 tools  ")
    assert "packbelt report --snapshot now.yaml --html report.html" in done.stdout
    assert "findings: " in done.stdout


def test_the_page_holds_what_the_json_says(fleet, run, run_json):
    done = run(fleet, "report", "--snapshot", "now.yaml", "--html", "out/report.html")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("packbelt: wrote out/report.html, ")
    page = (fleet / "out/report.html").read_text(encoding="utf-8")
    assert data_of(page) == run_json(fleet, "report", "--snapshot", "now.yaml")
    assert run(fleet, "report", "--snapshot", "now.yaml", "--html", "-").stdout == page


def test_json_says_each_tools_state_as_explain_does(fleet, run_json):
    found = run_json(fleet, "report", "--snapshot", "now.yaml")
    root = found["agents"][0]
    rows = [explanation for count, explanation in root["rows"] for _ in range(count)]
    for tool, at in zip(found["tools"], rows, strict=True):
        alone = run_json(fleet, "explain", "orchestrator", tool["wire_name"], "--snapshot", "now.yaml")
        assert found["explanations"][at]["state"] == alone["state"]
        assert tool["tokens"] == alone["tokens"]
    refused = {agent["name"]: agent for agent in found["agents"] if "refused" in agent}
    assert set(refused) == {"broken", "refused"}
    assert "rows" not in refused["broken"]


def test_the_policy_of_the_page_allows_its_own_script_and_style_alone(fleet, run):
    page = run(fleet, "report", "--html", "-").stdout
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    policy = policy.replace("&#39;", "'").replace("&#43;", "+")
    assert policy.startswith("default-src 'none';")
    for tag, kind in (("<script>", "script"), ("<style>", "style")):
        text = page[page.index(tag) + len(tag) : page.index(f"</{kind}>", page.index(tag))]
        assert f"{kind}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)", page.replace(page[page.index('id="data">') :], "")
    )


def test_what_stands_in_a_script_element_is_no_markup():
    text = embedded({"description": HOSTILE})
    assert not set(text) & set("<>&\u2028\u202e\udc80")
    assert json.loads(text) == {"description": HOSTILE}


def test_a_hostile_tool_stays_data(fleet, run):
    snapshot = {
        "servers": {"evil": {"status": "connected", "tools": [{"name": "x", "description": HOSTILE[:-1]}]}}
    }
    (fleet / "evil.json").write_text(json.dumps(snapshot))
    page = run(fleet, "report", "--snapshot", "evil.json", "--html", "-").stdout
    assert page.count("<script") == 2
    assert page.count("<img") == 0
    told = {tool["wire_name"]: tool.get("description") for tool in data_of(page)["tools"]}
    assert told["mcp__evil__x"] == HOSTILE[:-1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--html", "a.html", "--json"), "choose one"),
        (("--open",), "--html FILE"),
        (("--html", "-", "--open"), "--html FILE"),
        (("--html", "packs/core.yaml/a.html"), "cannot be written"),
    ],
)
def test_bad_input_is_one_line(fleet, run, given, said):
    done = run(fleet, "report", *given)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len([line for line in done.stderr.splitlines() if said in line]) == 1


def test_open_shows_the_file_that_was_written(fleet, run, monkeypatch):
    shown = []
    monkeypatch.setattr(click, "launch", shown.append)
    assert run(fleet, "report", "--html", "my report.html", "--open").exit_code == 0
    assert shown == [(fleet / "my report.html").as_uri()]


def test_a_report_imports_neither_mcp_nor_an_sdk(process):
    code = (
        "import sys; from packbelt.cli import cli; cli(['report', '--html', 'r.html'], standalone_mode=False); "
        "print(sorted(m for m in ('mcp', 'anyio', 'anthropic', 'openai') if m in sys.modules))"
    )
    assert process("-c", code).stdout.strip() == "[]"
