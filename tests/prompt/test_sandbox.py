"""A template that is broken, greedy or endless costs its own section, with file and line, and nothing else."""

from dataclasses import replace

import pytest
from prompt_world import TEMPLATES, belt, connected, fleet, sections

from packbelt.catalog.workspace import Template
from packbelt.model import Code, Level
from packbelt.prompt import NAMES, render_sections
from packbelt.prompt.sandbox import SIZE

BROKEN = {
    "does not compile": ("{% if %}", 1, "does not compile"),
    "unclosed": ("a\n{% for x in packs %}\nb", 3, "does not compile"),
    "unknown filter": ("a\n{{ agent | shout }}", 2, "does not compile"),
    "unknown name": ("a\nb\n{{ nothing_here }}", 3, "'nothing_here' is undefined"),
    "unknown field": ("{% for pack in packs %}\n{{ pack.sumary }}{% endfor %}", 2, "sumary"),
    "calls what is not there": ("\n{{ wai('x') }}", 2, "'wai' is undefined"),
    "division": ("{{ 1 // 0 }}", 1, "by zero"),
    "prints a list": ("{{ packs }}", 1, "prints, joins or lists a tuple"),
    "prints an object": ("{{ packs[0] }}", 1, "prints, joins or lists a PutAway"),
    # Python's insides
    "class": ("{{ agent.__class__ }}", 1, "unsafe"),
    "subclasses": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", 1, "unsafe"),
    "globals": ("{{ way.__call__.__globals__ }}", 1, "unsafe"),
    "the view's own": ("{{ way._speaker.belt }}", 1, "unsafe"),
    "by item": ("{{ agent['__class__'] }}", 1, "unsafe"),
    "by attribute filter": ("{{ packs | map(attribute='__class__') | join }}", 1, "unsafe"),
    "attr filter": ("{{ agent | attr('__class__') }}", 1, "does not compile"),
    "format": ("{{ '{0.__class__}'.format(agent) }}", 1, "not safely callable"),
    "format_map": ("{{ '{a}'.format_map(x) }}", 1, "x"),
    "other string methods": ("{{ agent.encode('utf-8') }}", 1, "unsafe"),
    "self": ("{{ self }}", 1, "does not compile"),
    "a tuple's methods": ("{{ packs.index(1) }}", 1, "unsafe"),
    "lipsum": ("{{ lipsum() }}", 1, "undefined"),
    "cycler": ("{{ cycler('a').__init__ }}", 1, "undefined"),
    # other files and structure
    "include": ("{% include 'routing' %}", 1, "uses `include`"),
    "import": ("a\n{% import 'routing' as r %}", 2, "uses `import`"),
    "extends": ("{% extends 'routing' %}", 1, "uses `extends`"),
    "block": ("{% block a %}{% endblock %}", 1, "uses `block`"),
    "namespace": ("{% set ns.x = 1 %}", 1, "uses `set x.y`"),
    "recursive loop": ("{% for x in packs recursive %}{{ loop(packs) }}{% endfor %}", 1, "uses `recursive`"),
    # endless, or as good as
    "endless loop": (
        "\n{% for a in range(999) %}{% for b in range(999) %}{% for c in range(999) %}{% endfor %}{% endfor %}{% endfor %}",
        2,
        "too many steps",
    ),
    "endless loop over one value": (
        "{% set r = range(999) %}{% for a in r %}{% for b in r %}{% for c in r %}{% endfor %}{% endfor %}{% endfor %}",
        1,
        "too many steps",
    ),
    "one long loop": (
        "{% set r = range(999) | list * 60 %}{% for a in r %}{% endfor %}",
        1,
        "too many steps",
    ),
    "costly filters": (
        "{% set a = 'x' * 60000 %}{% for b in range(999) %}{% set c = a | upper %}{% endfor %}",
        1,
        "too many steps",
    ),
    "long range": ("{% for a in range(10**9) %}{% endfor %}", 1, "counts further"),
    "endless macro": ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", 1, "too deeply"),
    "branching macro": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
        1,
        "too many steps",
    ),
    "deep parentheses": ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", 0, "too deeply"),
    "deep attributes": ("{{ agent" + ".a" * 9000 + " }}", 0, "too deeply"),
    "deep sum": ("{{ 1" + "+1" * 9000 + " }}", 0, "too deeply"),
    "deep negation": ("{{ " + "not " * 9000 + "1 }}", 0, "too deeply"),
    "deep conditions": ("{% if 1 %}" * 300 + "{% endif %}" * 300, 0, "does not compile"),
    # memory
    "string bomb": ("{{ 'x' * 10**9 }}", 1, "more than"),
    "string bomb the other way": ("{{ 10**9 * 'x' }}", 1, "more than"),
    "list bomb": ("{{ ([1] * 10**9) | length }}", 1, "more than"),
    "power": ("{{ 9 ** 99 }}", 1, "too large"),
    "chained powers": ("{{ 9 ** 9 ** 9 ** 9 }}", 1, "too large"),
    "power tower": ("{% set a = 2 ** 60 %}{% set b = a * a %}{{ b * b * b }}", 1, "too large"),
    "huge literal": ("{{ " + "9" * 5000 + " }}", 0, "does not compile"),
    "doubling by +": ("{% set a = 'x' * 60000 %}{{ (a + a) | length }}", 1, "more than"),
    "doubling by ~": ("{% set a = 'x' * 60000 %}{{ (a ~ a) | length }}", 1, "more than"),
    "doubling by join": ("{% set a = 'x' * 60000 %}{{ ([a, a] | join) | length }}", 1, "more than"),
    "doubling by replace": ("{% set a = 'x' * 60000 %}{{ a | replace('x', 'xx') | length }}", 1, "more than"),
    "nested lists": ("{% set a = [1] %}{% set b = [a, a] %}", 1, "prints, joins or lists a list"),
    "format width": ("{{ '%0999999999d' % 1 }}", 1, "formats with `%`"),
    "centre": ("{{ 'x' | center(10**9) }}", 1, "does not compile"),
    "long output": ("{% for a in range(900) %}" + "x" * 100 + "{% endfor %}", 1, "writes more than"),
    "long set block": (
        "{% for a in range(900) %}{% set b %}" + "x" * 100 + "{% endset %}{% endfor %}",
        1,
        "writes more than",
    ),
    "long source": ("x" * (SIZE + 1), 1, "longer than"),
}


def rendered_with(source, name="capabilities"):
    templates = {**TEMPLATES, name: Template(name, source, f"prompts/sections/{name}.j2")}
    made = replace(fleet(direct=()), templates=templates)
    return render_sections(belt(made, connected("weather")))


@pytest.mark.parametrize("kind", BROKEN)
def test_a_bad_template_costs_one_section(kind):
    source, line, problem = BROKEN[kind]
    rendered = rendered_with(source)
    assert set(rendered.texts) == {"connected_mcp_servers", "routing"}
    (found,) = rendered.diagnostics
    assert (found.level, found.code, found.name) == (Level.ERROR, Code.TEMPLATE_BROKEN, "capabilities")
    assert found.where.file == "prompts/sections/capabilities.j2"
    assert found.where.line == line
    assert problem in found.message, found.message
    assert found.mend
    assert "\n" not in str(found)
    assert len(str(found)) < 700


@pytest.mark.parametrize("name", NAMES)
def test_the_other_sections_are_as_they_were(name):
    whole = sections(fleet(direct=()), connected("weather"))
    rendered = rendered_with("{% endless", name)
    assert dict(rendered.texts) == {key: text for key, text in whole.items() if key != name}


def test_what_templates_may_do():
    source = """
{% macro both(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}
{% set names = packs | map(attribute="id") | sort | list %}
{% with first = names | first %}{{ first ~ "!" }}{% endwith %}

{% for name in names if name != "skills" %}{{ loop.index }}/{{ loop.length }} {{ name | upper }}{{ ", " if not loop.last }}{% endfor %}

{{ both(1) }} {{ 7 % 4 }} {{ 2 ** 3 }} {{ "ab" * 2 }} {{ "a,b".split(",") | join(";") }} {{ names[:1] | length }} {{ 1.5 }} {{ names is defined }}
"""
    assert rendered_with(source).texts["capabilities"] == (
        "integrations!\n1/2 INTEGRATIONS, 2/2 LEDGER\n1-2 3 8 abab a;b 1 1.5 True"
    )


def test_a_section_that_is_only_blanks_is_absent():
    rendered = rendered_with("\n  {# nothing #}\n\t\n")
    assert "capabilities" not in rendered.texts
    assert rendered.diagnostics == ()


def test_a_missing_template_is_an_absent_section():
    templates = {name: one for name, one in TEMPLATES.items() if name != "routing"}
    assert "routing" not in sections(replace(fleet(), templates=templates), connected("weather"))


def test_jinja2_is_imported_only_to_render():
    import subprocess
    import sys

    code = "import sys, packbelt, packbelt.prompt; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
