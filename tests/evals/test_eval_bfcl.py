"""BFCL as a workspace: its own lines become servers, tools and cases, and packbelt plays them."""

import json
from pathlib import Path

import anyio
import jsonschema
import pytest
from click.testing import CliRunner

from packbelt.catalog.load import load
from packbelt.evals import Result, model_named, read_suites, run_suite
from packbelt.evals.layouts import layout_named
from packbelt.evals.public.bfcl import Place, main, place_of
from packbelt.evals.public.schemas import mended

DATA = Path(__file__).parents[1] / "fixtures" / "bfcl"
TICKETS = "live_multiple_411-141-0"


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    out = tmp_path_factory.mktemp("bfcl") / "out"
    done = CliRunner().invoke(main, [str(DATA), "--out", str(out), "--none", "2"], catch_exceptions=False)
    assert done.exit_code == 0
    workspace = load(out)
    (suite,) = read_suites(workspace)
    return out, workspace, suite


def test_every_function_is_a_tool_of_the_server_that_its_name_says(imported):
    _, _, suite = imported
    servers = suite.cases[0].snapshot.servers
    assert {name: {tool.name for tool in state.tools} for name, state in servers.items()} == {
        "ChaDri": {"change_drink"},
        "set_0": {"ChaFod"},
        "uber": {"ride", "ride2"},
        "set_3": {"get_current_weather", "start_oncall", "create_workspace", "generate_password"},
        "Movies_3": {"FindMovies"},
        "Services_4": {"BookAppointment", "FindProvider"},
        "Movies_1": {"BuyMovieTickets", "FindMovies", "GetTimesForMovie"},
    }
    assert servers["uber"].instructions == "ride, ride2"


def test_each_question_expects_its_one_tool_or_none(imported):
    _, _, suite = imported
    assert {case.id: case.expect for case in suite.cases} == {
        "live_multiple_0-0-0": (("ChaDri/change_drink",),),
        "live_multiple_2-1-0": (("uber/ride",),),
        "live_multiple_5-3-0": (("set_3/get_current_weather",),),
        "live_multiple_285-129-0": (("Services_4/FindProvider",),),
        TICKETS: (("Movies_3/FindMovies", "Movies_1/FindMovies"),),  # the same function, in two versions
        "irrelevance_0": (),
        "irrelevance_1": (),
    }
    weather = next(case for case in suite.cases if case.id == "live_multiple_5-3-0")
    assert weather.request.startswith("Don't make assumptions")  # what the set's system line says
    assert "Shanghai" in weather.request


def test_the_schemas_are_json_schema(imported):
    _, _, suite = imported
    tools = [tool for state in suite.cases[0].snapshot.servers.values() for tool in state.tools]
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(dict(tool.input_schema))
    assert '"dict"' not in json.dumps([dict(tool.input_schema) for tool in tools])


def test_a_type_is_mended_where_it_is_one_and_left_where_it_is_a_name():
    given = {
        "type": "dict",
        "properties": {
            "type": {"type": "float", "description": "Its type."},
            "at": {"type": "tuple", "items": {"type": "dict", "properties": {"x": {"type": "any"}}}},
        },
        "required": ["type"],
    }
    assert mended(given) == {
        "type": "object",
        "properties": {
            "type": {"type": "number", "description": "Its type."},
            "at": {"type": "array", "items": {"type": "object", "properties": {"x": {}}}},
        },
        "required": ["type"],
    }


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Movies_3_FindMovies", Place("Movies_3", "FindMovies", "Movies/FindMovies")),
        ("a.b.c", Place("a", "b_c", "a/b_c")),
        ("get_x", Place("set_7", "get_x", "get_x")),
    ],
)
def test_where_a_function_is_put(name, place):
    assert place_of(name, "7") == place


def test_the_suite_is_played_flat_and_packed(imported):
    _, workspace, suite = imported
    reports = {
        layout: anyio.run(run_suite, layout_named(layout)(workspace), suite, model_named("lexical"))
        for layout in ("flat", "promoted")
    }
    sent = {layout: report.cases[0].trace.replies[0].advertised for layout, report in reports.items()}
    assert len(sent["flat"]) == 14
    assert sent["promoted"] == ("use_pack",)
    for layout, result in (("flat", Result.REACHED), ("promoted", Result.REACHED_LATE)):
        passed = [case for case in reports[layout].cases if case.passed and case.expected.steps]
        assert passed
        assert {case.result for case in passed} == {result}
    assert not any(case.trace.error for report in reports.values() for case in report.cases)


def test_what_is_not_bfcl_or_would_be_overwritten_is_refused(imported, tmp_path):
    out, *_ = imported
    run = CliRunner().invoke
    assert (
        "is no file of BFCL v4; name the directory bfcl_eval/data"
        in run(main, [str(tmp_path), "--out", "x"]).output
    )
    assert "is there already; name a new directory" in run(main, [str(DATA), "--out", str(out)]).output
