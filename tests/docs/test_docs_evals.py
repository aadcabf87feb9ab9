"""docs/evals.md says what is read and what is given, and its example is read and played."""

import anyio
from pages import ROOT, codes, packbelt_commands, parses, table, write_examples

import packbelt
from packbelt.catalog.text import Tree
from packbelt.evals import LAYOUTS, MODELS, MUTATIONS, RESULTS, model_named, run_suite
from packbelt.evals.costs import READ
from packbelt.evals.files import CaseFile, SuiteFile, WishFile, parse_suite
from packbelt.evals.models import REPLAY
from packbelt.evals.models.local.local import LOCAL, NAMES
from packbelt.evals.mutations import REPACK

PAGE = ROOT / "docs/evals.md"


def test_every_key_has_its_row():
    for mark, model in (("suite", SuiteFile), ("case", CaseFile), ("wish", WishFile)):
        assert {codes(row[0])[0] for row in table(PAGE, mark)} == set(model.model_fields)
    assert ["`steps`", str(SuiteFile.model_fields["steps"].default)] == table(PAGE, "suite")[3][:2]


def test_every_outcome_has_its_row_with_its_own_sentence():
    assert [(codes(row[0])[0], row[1]) for row in table(PAGE, "outcomes")] == list(RESULTS.items())


def test_every_mutation_has_its_row_with_its_own_sentence():
    *rows, (last, _) = [(codes(row[0])[0], row[1]) for row in table(PAGE, "mutations")]
    assert dict(rows) == {name: one.about for name, one in MUTATIONS.items()}
    assert len(rows) == len(MUTATIONS)
    assert last == f"{REPACK}NAME"


def test_the_price_of_what_is_cached_is_the_one_that_is_counted_with():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"at {READ} of the price" in text


def test_every_model_and_layout_is_named():
    assert [codes(row[0])[0] for row in table(PAGE, "models")] == [
        "scripted",
        *(name for name in MODELS if name.startswith("bot:")),
        "lexical",
        f"{LOCAL}MODEL",
        f"{NAMES}MODEL",
        f"{REPLAY}FILE",
        "openai/MODEL",
    ]
    layouts = PAGE.read_text(encoding="utf-8").split("## Layouts\n")[1]
    assert {f"`{name}`" for name in LAYOUTS} <= set(layouts.replace("\n", " ").split(" "))


def test_the_commands_parse():
    commands = packbelt_commands(PAGE)
    assert len(commands) == 12
    assert all(parses(words) for words in commands)


def test_the_example_is_read_and_played(tmp_path):
    (name,) = write_examples(PAGE, tmp_path)
    workspace = packbelt.load(ROOT)
    suite = parse_suite((tmp_path / name).read_text(encoding="utf-8"), name, workspace, Tree(tmp_path))
    report = anyio.run(run_suite, workspace, suite, model_named("scripted"))
    assert (report.suite, report.passed, len(report.cases)) == ("requests", True, 2)
