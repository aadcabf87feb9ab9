"""The page of a run in a real browser: what it shows, how it is used, and that it runs nothing of a model's."""

import re

import pytest
from judged_plays import HARNESS, call, outcomes, play, repeated, report

from packbelt.evals.judge.cells import NoCasesError
from packbelt.evals.judge.compare import Side, compare, contrasts
from packbelt.evals.judge.coverage import coverage
from packbelt.evals.judge.page import page
from packbelt.evals.trials import Condition
from packbelt.model import HintClass, Outcome

PACKED = Condition(layout="packed")
ATTACK = '</script><img src=x onerror="window.owned=1"><svg onload="window.owned=1">\'"&amp;<!--'


@pytest.fixture
def show(open_page, tmp_path):
    """Open a page of plays; any error in it, and any request but for its own file, fails the test."""

    def run(html, *, viewport=None, color_scheme="light", says=None):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        size = viewport or {}
        return open_page(file, scheme=color_scheme, says=says, **size)

    return run


def run_of_two():
    return [*outcomes("+--e", tags=("seed",)), *outcomes("+++e", PACKED, tags=("seed",))]


def test_the_page_shows_rates_outcomes_matrix_grid_and_what_was_compared(show, embedded, seed):
    tab = show(page(run_of_two(), contrasts(run_of_two()), coverage(embedded, [seed]), "My run"))
    assert tab.title() == "My run"
    conditions = tab.locator("section").nth(0)
    assert [row.split("\n")[0].split("\t")[0] for row in conditions.locator("tbody tr").all_inner_texts()] == [
        "scripted, promoted", "scripted, packed"
    ]  # fmt: skip
    first = conditions.locator("tbody tr").nth(0)
    assert "1 / 2 / 1" in first.inner_text()
    # Wilson's interval of 1 in 3 is 6 to 79 %: statsmodels proportion_confint(1, 3, method="wilson")
    assert (
        first.locator("svg").first.get_attribute("aria-label")
        == "within steps: 33 %, 95 % interval 6 % to 79 %"
    )
    reach = first.locator("svg .reach").first
    assert float(reach.get_attribute("x")) == pytest.approx(6.15, abs=0.01)
    outcome = tab.get_by_role("row", name=re.compile("^wrong_handoff"))
    assert outcome.inner_text().split() == ["wrong_handoff", "2"]
    assert "About" in tab.get_by_text("pairs would tell").text_content()
    assert tab.get_by_text("inconclusive").count() == 1
    assert "no case" not in tab.locator("section").nth(0).inner_text()
    assert tab.locator("#grid button").all_inner_texts() == ["✓", "✓", "✗", "✓", "✗", "✓", "error", "error"]
    assert "none for" in tab.get_by_role("region", name="Coverage").inner_text()


def test_discordant_cases_are_listed(show):
    found = compare(Side("main", outcomes("-" * 8 + "+")), Side("now", outcomes("+" * 8 + "+")))
    tab = show(page(outcomes("+" * 9), [found]))
    section = tab.get_by_role("region", name="Compared")
    assert "main → now" in section.inner_text()
    assert "better" in section.inner_text()
    assert section.locator("code").all_inner_texts() == [f"s/case{n}" for n in range(8)]


def test_a_matrix_is_chosen(show):
    tab = show(page(run_of_two()))
    shown = tab.locator("figure:visible figcaption")
    assert shown.all_inner_texts() == ["scripted, promoted, first choice"]
    tab.locator("#matrix").select_option(label="scripted, packed")
    tab.locator("#choice").select_option("last")
    assert shown.all_inner_texts() == ["scripted, packed, last choice"]


def test_a_trace_is_opened_read_and_closed_by_the_keyboard(show):
    wrong = call(
        "made_up", HintClass.UNKNOWN, Outcome.REJECTED, tool=None, arguments={"x": 1}, answer="No such tool."
    )
    played = [
        play(report("one", calls=(wrong, "a"), text="There you are."), repeat=0),
        play(report("one", fault=HARNESS), repeat=1),
        *outcomes("+"),
    ]
    tab = show(page(played))
    tab.locator("#grid button").first.focus()
    tab.keyboard.press("Enter")
    dialog = tab.get_by_role("dialog")
    said = dialog.inner_text()
    for words in (
        "s/one",
        "Do one.",
        "Play 1 of 2",
        "reached_late",
        "made_up",
        '{"x":1}',
        "No such tool.",
        "There you are.",
        "harness_error",
        "It broke.",
    ):
        assert words in said, words
    tab.keyboard.press("Escape")
    assert not dialog.is_visible()
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith("s/case0")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')").startswith("s/case0")


def test_cases_are_found_by_words_and_by_what_came_of_them(show):
    tab = show(page(run_of_two()))
    rows = tab.locator("#grid tbody tr:visible")
    assert rows.count() == 4
    tab.get_by_label("find").fill("case2 seed")
    assert rows.count() == 1
    tab.get_by_label("find").fill("")
    tab.get_by_label("conditions differ").check()
    assert tab.locator("#shown").inner_text() == "2 of 4"
    tab.get_by_label("conditions differ").uncheck()
    tab.get_by_label("not passed").check()
    assert rows.count() == 3


def test_nothing_that_a_model_or_a_file_says_is_run(show):
    hostile = report(
        ATTACK,
        calls=(call(ATTACK, arguments=ATTACK, tool=ATTACK, answer=ATTACK),),
        text=ATTACK,
        tags=(ATTACK,),
        agent=ATTACK,
    )
    condition = Condition(ATTACK, ATTACK, ATTACK)
    html = page([play(hostile, condition=condition, suite=ATTACK)], title=ATTACK)
    tab = show(html)
    tab.locator("#grid button").first.click()
    dialog = tab.get_by_role("dialog")
    assert dialog.inner_text().count(ATTACK) >= 5
    assert tab.evaluate("window.owned") is None
    assert tab.locator("img").count() == 0
    assert tab.locator("script").count() == 2
    assert tab.evaluate("document.querySelectorAll('[onerror], [onload]').length") == 0


def test_the_page_s_own_policy_runs_no_script_but_its_own(show):
    html = page(outcomes("+")).replace(
        "<main>", '<main><img id="x" src="data:," onerror="window.owned=1"><script>window.owned=2</script>'
    )
    tab = show(html, says="Content Security Policy")
    assert tab.evaluate("window.owned") is None
    assert tab.locator("#grid button").count() == 1


def luminance(colour):
    parts = [int(one) / 255 for one in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


CONTRAST = """() => {
  const behind = (node) => { for (; node; node = node.parentElement) {
    const back = getComputedStyle(node).backgroundColor; if (!/, 0\\)|transparent/.test(back)) return back; } };
  return [...document.querySelectorAll('h1, h2, td, th, .dim, .good, .bad, .odd, .part, .tag, summary, #grid button')]
    .filter((node) => node.innerText && node.innerText.trim() && !node.closest('.matrix td'))
    .map((node) => [getComputedStyle(node).color, behind(node), node.innerText]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_light_and_dark(show, scheme):
    tab = show(page([*run_of_two(), *repeated(["+-"], Condition("x"))]), color_scheme=scheme)
    back = luminance(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert (back > 0.5) == (scheme == "light")
    for colour, behind, words in tab.evaluate(CONTRAST):
        one, other = sorted((luminance(colour), luminance(behind)))
        assert (other + 0.05) / (one + 0.05) >= 4.5, (words, colour, behind)
    tab.get_by_label("Dark or light").click()
    assert (luminance(tab.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.5) == (
        scheme == "dark"
    )


def test_the_page_names_no_address_and_is_the_same_each_time(embedded, seed):
    html = page(run_of_two(), contrasts(run_of_two()), coverage(embedded, [seed]))
    assert not re.search(r"(?:https?:)?//[a-z]", html.split("<script type")[0])
    assert html == page(run_of_two(), contrasts(run_of_two()), coverage(embedded, [seed]))


def test_ev17_there_is_no_page_of_nothing():
    with pytest.raises(NoCasesError):
        page([])
