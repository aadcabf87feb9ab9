"""Where sections go in an agent's own text."""

from dataclasses import replace

from prompt_world import TEMPLATES, belt, connected, fleet, prompt, sections, with_agent

from packbelt.catalog.workspace import Template
from packbelt.model import Code, Level, Where
from packbelt.prompt import Sections, render_prompt, render_sections


def body(text, **changes):
    return with_agent(fleet(), "orchestrator", body=text, **changes)


def filled(text, texts, **changes):
    return render_prompt(belt(body(text, **changes)), Sections(texts))


def test_a_placeholder_becomes_its_section_and_every_other_brace_is_text():
    text = 'A {"json": {{1}}} {{ sections }} {{ user.name }} {% if x %} {# c #}\n\n{{ sections.routing }}\nEnd {{x}}.'
    assert filled(text, {"routing": "## Routing\n\n- a"}) == (
        'A {"json": {{1}}} {{ sections }} {{ user.name }} {% if x %} {# c #}\n\n## Routing\n\n- a\nEnd {{x}}.'
    )


def test_blanks_inside_the_braces_do_not_matter():
    assert filled("{{sections.routing}}|{{   sections.routing\t}}", {"routing": "R"}) == "R|R"


def test_nothing_is_left_of_a_section_without_content():
    text = "One.\n\n{{ sections.capabilities }}\n\n{{ sections.installed_skills }}\n\nTwo.\n\n\nThree.\n\n{{ sections.routing }}\n"
    assert filled(text, {}) == "One.\n\nTwo.\n\n\nThree."
    assert filled("A {{ sections.routing }} b", {}) == "A  b"
    assert filled("{{ sections.routing }}\n\nOnly.", {}) == "Only."


def test_a_body_that_places_nothing_gets_all_sections_after_it():
    assert filled("Body.\n", {"capabilities": "C", "routing": "R"}) == "Body.\n\nC\n\nR"
    assert filled("", {"routing": "R"}) == "R"
    made = body("Body.")
    text = prompt(made, connected("weather"))
    assert (
        text.index("Body.")
        < text.index("## Connected")
        < text.index("## Capabilities")
        < text.index("## Routing")
    )


def test_only_placed_sections_are_rendered_and_so_paid_for():
    made = body("{{ sections.routing }}")
    assert set(sections(made, connected("weather"))) == {"routing"}
    assert "## Capabilities" not in prompt(made, connected("weather"))


def test_an_imported_body_is_never_a_template():
    text = "Keep {{ sections.routing }} and {{ sections.typo }} as they are, `run_skill` too."
    made = body(text, is_template=False)
    rendered = render_sections(belt(made), lambda name: f"x__{name}")
    assert rendered.diagnostics == ()
    whole = render_prompt(belt(made), rendered, lambda name: f"x__{name}")
    assert whole.startswith(text + "\n\n## Capabilities")
    assert whole.count("## Routing") == 1


def test_a_placeholder_that_names_no_section_is_reported_and_left_out():
    made = body(
        "One.\n\n{{ sections.rooting }}\n{{ sections.routing }}",
        file="prompts/agents/orchestrator.md",
        lines={"": 1, "body": 6},
    )
    rendered = render_sections(belt(made))
    (found,) = rendered.diagnostics
    assert (found.level, found.code) == (Level.WARNING, Code.TEMPLATE_BROKEN)
    assert found.where == Where("prompts/agents/orchestrator.md", 8)
    assert "rooting" in found.message
    assert found.mend == "write routing"
    text = render_prompt(belt(made), rendered)
    assert "rooting" not in text
    assert text.startswith("One.\n\n## Routing")


def test_a_body_with_nothing_but_a_typo_loses_no_section():
    made = body("One. {{ sections.rooting }}")
    text = render_prompt(belt(made), render_sections(belt(made)))
    assert "## Routing" in text
    assert "{{" not in text


def test_a_section_that_looks_like_a_placeholder_is_not_filled_again():
    assert filled(
        "{{ sections.routing }}", {"routing": "{{ sections.capabilities }}", "capabilities": "C"}
    ) == ("{{ sections.capabilities }}")


def test_a_workspaces_own_template_is_a_section_where_it_is_placed():
    own = Template("house_rules", "House of {{ agent }}.", "prompts/sections/house_rules.j2")
    made = replace(body("{{ sections.house_rules }}"), templates={**TEMPLATES, "house_rules": own})
    assert prompt(made) == "House of orchestrator."


def test_names_of_sent_tools_in_the_body_are_spelled_as_the_target_spells_them():
    made = body("Use `web_fetch`, `mcp_registry_search` and web_fetch. {{ sections.routing }}")
    text = prompt(made, spell=lambda name: f"mcp__belt__{name}")
    assert text.startswith("Use `mcp__belt__web_fetch`, `mcp_registry_search` and web_fetch.")
    assert "`mcp__belt__run_skill`" in text
