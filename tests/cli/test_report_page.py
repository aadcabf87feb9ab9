"""The report's page in a headless Chromium: searched, clicked, driven by keys alone, in both schemes."""

import json

import pytest
from small_project import FILES, write

from packbelt.catalog.load import load
from packbelt.catalog.snapshot import Snapshot
from packbelt.checks.report import report
from packbelt.cli.page import page_of
from packbelt.cli.report_json import report_json

HOSTILE = '</script><img src=x onerror="console.log(1)"><b>bold</b> \u202egnp.exe'

AUDIT = """() => {
  const see = (e) => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
  const named = (e) => (e.getAttribute("aria-label") || e.textContent || e.querySelector("[aria-label]")?.getAttribute("aria-label") || "").trim();
  const controls = [...document.querySelectorAll(
    "button, input, summary, [role=button], [role=tab], [tabindex='0'], td, th, svg[role]")].filter(see);
  const nameless = controls.filter((e) => !named(e) && !e.closest("tfoot, .more")).map((e) => e.outerHTML.slice(0, 90));
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const pointed = [...document.querySelectorAll("[aria-controls], [aria-labelledby], [aria-describedby]")].flatMap((e) =>
    ["aria-controls", "aria-labelledby", "aria-describedby"].map((k) => e.getAttribute(k)).filter(Boolean));
  return {nameless, twice: ids.filter((id, k) => ids.indexOf(id) !== k), lost: pointed.filter((id) => !ids.includes(id))};
}"""

CONTRAST = """() => {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (color) => {
    pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const back = rgba(getComputedStyle(e).backgroundColor);
      if (back[3] === 255) return back;
    }
    throw new Error("no ground");
  };
  const worst = new Map();
  const note = (key, value, least) => {
    if (!worst.has(key) || worst.get(key)[0] > value) worst.set(key, [value, least]);
  };
  for (const e of document.querySelectorAll("#app *")) {
    if (!e.getClientRects().length || e.closest(":disabled, .faded")) continue;
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    const style = getComputedStyle(e);
    if (own && !e.closest("svg")) note(`text ${e.tagName}.${e.className}`, ratio(rgba(style.color), ground(e)), 4.5);
    if (own && e.closest("svg") && e.tagName === "text") note("svg text", ratio(rgba(style.fill), ground(e.closest("div"))), 4.5);
    if (e.matches(".glyph")) note(`shape ${e.className.baseVal}`, ratio(rgba(style.fill), ground(e.parentElement)), 3);
  }
  return [...worst].map(([key, [value, least]]) => [key, value, least]);
}"""


def page_file(folder, workspace, snapshot):
    file = folder / "report.html"
    file.write_text(page_of(report_json(report(workspace, snapshot))), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small fleet's page, with a server whose words are meant to be run."""
    folder = tmp_path_factory.mktemp("small")
    root = write(folder / "fleet", FILES)
    evil = {"name": "x", "description": HOSTILE, "inputSchema": {"type": "object"}}
    servers = {
        "evil": {"status": "connected", "tools": [evil]},
        "down": {"status": "failed", "error": "exited with 1"},
    }
    return page_file(folder, load(root), Snapshot.from_data({"servers": servers}))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The page of packbelt's own fleet with 2,000 tools of 40 servers."""
    servers = {
        f"server{n:02}": {
            "status": "connected",
            "tools": [
                {
                    "name": f"tool_{n:02}_{k:02}",
                    "description": f"Does {k}.",
                    "inputSchema": {"type": "object"},
                }
                for k in range(50)
            ],
        }
        for n in range(40)
    }
    return page_file(tmp_path_factory.mktemp("large"), load(), Snapshot.from_data({"servers": servers}))


def cell(page, row, agent):
    """The cell of a row, by the name at its head, and an agent."""
    line = page.locator(".matrix tbody tr").filter(has=page.locator("th .name", has_text=row)).first
    return line.locator(f'td[aria-label^="{agent}: "]')


def search(page, text):
    before = page.locator("#count").inner_text()
    page.fill("#search", text)
    page.wait_for_function("before => document.querySelector('#count').textContent !== before", arg=before)


def focused(page):
    return page.evaluate(
        "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent)"
    )


def test_a_click_on_a_cell_says_why_with_rule_file_and_line(small, open_page):
    page = open_page(small)
    cell(page, "core", "orchestrator").click()
    assert "1 direct, 1 denied" in cell(page, "core", "orchestrator").get_attribute("aria-label")
    panel = page.locator("#panel")
    assert "deny entry 'shell' matches" in panel.inner_text()
    assert "rule workspace.deny, packbelt.yaml:3" in panel.inner_text()
    panel.get_by_role("button", name="shell", exact=True).click()
    assert panel.locator("h2").inner_text() == "shell"
    assert "denied for orchestrator: it may not be called." in panel.inner_text()
    assert page.url.endswith("#belts/orchestrator/shell")
    again = open_page(small, at="#belts/orchestrator/shell")
    assert again.locator("#panel h2").inner_text() == "shell"
    assert again.locator("td[aria-selected]").count() == 1


def test_a_reserved_tool_names_the_hand_off_and_a_missing_one_the_mend(small, open_page):
    page = open_page(small, at="#belts/orchestrator/registry_search")
    text = page.locator("#panel").inner_text()
    assert "it is kept for others, who are asked by a hand-off" in text
    assert "hands to mcp_agent, who can call it" in text
    page.locator("#panel .others").get_by_role("button", name="mcp_agent").click()
    assert "direct for mcp_agent" in page.locator("#panel").inner_text()
    page = open_page(small, at="#belts/mcp_agent/file_read")
    assert (
        "mend: add file_read to tools, prompts/agents/mcp_agent.md:5" in page.locator("#panel").inner_text()
    )


def test_hostile_words_stay_words(small, open_page):
    page = open_page(small, at="#belts/mcp_agent/mcp__evil__x")
    said = page.locator("#panel .description")
    assert said.inner_text() == HOSTILE.replace("\u202e", "\\u202e")
    assert page.locator("img, #app b:not([aria-hidden])").count() == 0
    search(page, "</script>")
    assert page.locator(".matrix tr.tool").count() == 1


def test_a_search_filters_and_escape_takes_it_back(small, open_page):
    page = open_page(small)
    search(page, "file_w")
    assert page.locator("tr.tool th .name").all_inner_texts() == ["file_write"]
    page.keyboard.press("Escape")
    assert page.locator("tr.tool").count() == 0
    assert page.locator("tr.family").count() == 6
    search(page, "agent:mcp")
    assert page.locator("thead .agent").all_inner_texts() == ["mcp_agent"]
    search(page, "nothing has this name")
    assert "No tool fits" in page.locator("#view").inner_text()
    search(page, "")
    page.locator(".legend").get_by_role("button", name="denied").click()
    assert page.locator("tr.family th .name").all_inner_texts() == ["core"]


def test_keys_alone_lead_to_the_why_and_back(small, open_page):
    page = open_page(small)
    page.keyboard.press("/")
    page.keyboard.type("core")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("▸core")
    page.keyboard.press("ArrowRight")  # opens the pack
    assert page.locator("tr.tool").count() == 2
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert focused(page) == "orchestrator: direct"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "panel-title"
    assert "clock" in page.locator("#panel h2").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert focused(page) == "orchestrator: direct"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")  # closes it
    assert page.locator("tr.tool").count() == 0
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("Enter")  # the last agent's head
    assert "It cannot start" in page.locator("#panel").inner_text()
    page.locator("#tab-belts").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-handoffs").get_attribute("aria-selected") == "true"
    page.keyboard.press("Tab")
    assert focused(page).startswith("orchestrator: hands to")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").inner_text() == "mcp_agent"


def test_each_view_shows_what_it_is_about(small, open_page):
    page = open_page(small, at="#handoffs")
    data = json.loads(page.locator("#data").text_content())
    assert page.locator(".edges .edge").count() == len(data["links"])
    page.locator("#tab-cost").click()
    row = page.locator(".cost tbody tr").filter(has_text="orchestrator")
    total = data["agents"][0]["tokens"]["total"]
    assert row.locator(".figure").first.inner_text() == f"{total:,}"
    assert row.locator(".bar").first.get_attribute("aria-label").startswith(f"as sent: {total:,} tokens")
    page.locator("#tab-findings").click()
    assert page.locator(".finding").count() == len(data["findings"])
    page.locator("#tab-prompts").click()
    assert "You sort requests." in page.locator("article").inner_text()
    assert page.locator("article section h3").first.inner_text().startswith("routing")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_of_controls_and_contrast_in_both_schemes(small, open_page, scheme):
    page = open_page(small, scheme=scheme, at="#belts/orchestrator/shell")
    for view in ("belts", "handoffs", "cost", "findings", "prompts"):
        page.locator(f"#tab-{view}").click()
        assert page.evaluate(AUDIT) == {"nameless": [], "twice": [], "lost": []}, view
        measured = page.evaluate(CONTRAST)
        assert len(measured) > 10
        assert [(view, *one) for one in measured if one[1] < one[2]] == []


def test_the_scheme_is_the_systems_until_somebody_chooses(small, open_page):
    page = open_page(small, scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("#scheme").click()
    light = page.evaluate(ground)
    assert light != dark
    page.locator("#scheme").click()
    assert page.evaluate(ground) == dark
    page.emulate_media(color_scheme="light")
    assert page.evaluate(ground) == dark
    page.locator("#scheme").click()
    assert page.evaluate(ground) == light


def test_two_thousand_tools_stay_a_small_page_of_elements(large, open_page):
    page = open_page(large)
    assert page.locator("#count").inner_text() == "2,171 of 2,171 tools, 27 agents"
    assert page.locator("tr.family").count() == 58
    assert page.locator("tr.tool").count() == 0
    search(page, "tool_17_")
    assert page.locator("tr.tool").count() == 50
    search(page, "does")  # all of them fit, and more than fits is behind a line
    assert page.locator("tr.tool").count() < 150
    assert page.locator("#app *").count() < 20_000
    search(page, "tool_31_07 agent:mcp_agent")
    page.locator("tr.tool td").first.click()
    assert page.locator("#panel h2").inner_text() == "mcp__server31__tool_31_07"
    page.keyboard.press("Escape")
    search(page, "server08")
    page.locator("tr.family th").first.click()
    assert page.locator("tr.tool").count() == 50


def test_a_phone_and_a_printer_show_it_too(small, open_page):
    page = open_page(small, width=390, height=760)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    cell(page, "core", "orchestrator").click()
    assert page.locator("#panel").bounding_box()["width"] == 390
    page.emulate_media(media="print")
    assert page.locator("#search").is_hidden()
    assert page.locator("tr.family").last.is_visible()
