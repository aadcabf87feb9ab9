"""`packbelt eval`: a table for people, JSON for programs, and exit 1 where a request did not arrive."""

import json
import re
from pathlib import Path

import pytest

from packbelt.evals import Result, read_report

ROOT = Path(__file__).parents[2]


def test_the_embedded_suites_pass_and_their_rates_stand_below_the_table(run):
    done = run(ROOT, "eval")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "seed: scripted, promoted\n" in done.stdout
    assert "first step 3 of 5, within their steps 5 of 5\n" in done.stdout
    assert "no-tool-word             reached       no tool" in done.stdout


def test_as_the_report_found_it_the_seed_exits_1(run):
    done = run(ROOT, "eval", "seed", "--model", "bot:raw", "--layout", "packed")
    assert done.exit_code == 1
    assert "first step 0 of 5, within their steps 0 of 5\n" in done.stdout
    assert "(use_pack), use_pack > skill_registry_" in done.stdout
    assert "controls" not in done.stdout


def test_the_json_holds_what_the_outcomes_are_worked_out_from(run):
    done = run(ROOT, "eval", "seed", "--layout", "packed", "--json")
    assert done.exit_code == 1
    data = json.loads(done.stdout)
    (condition,) = data["conditions"]
    (suite,) = condition["suites"]
    assert (condition["layout"], suite["model"], suite["within_steps"]) == (
        "packed",
        "scripted",
        {"part": 0, "whole": 5},
    )
    (assessed,) = data["judgement"]["assessments"]
    assert suite["outcomes"] == assessed["outcomes"] == {"raw_tool": 1, "invented_name": 1, "looped": 3}
    again = {case.result for case in read_report(suite).cases}
    assert again == {Result.RAW_TOOL, Result.INVENTED_NAME, Result.LOOPED}


def test_the_trace_shows_each_call_and_its_answer(run):
    done = run(ROOT, "eval", "seed", "--model", "bot:guess", "--layout", "packed", "--trace")
    assert '2. use_pack({"pack":"skills","tool":"install_skill","arguments":{}}) unknown\n' in done.stdout
    assert 'No tool is called "install_skill" in pack "skills".' in done.stdout


def test_what_cannot_be_used_is_one_line_and_exit_2(run, fleet):
    for args, said in [
        (("seeds",), "no suite is called 'seeds'; did you mean 'seed'?"),
        (("--model", "bot:rawr"), "no model is called 'bot:rawr'; did you mean 'bot:raw'?"),
    ]:
        done = run(ROOT, "eval", *args)
        assert (done.exit_code, done.stderr) == (2, f"packbelt: error: {said}\n")
    done = run(fleet, "eval")
    assert done.exit_code == 2
    assert done.stderr.endswith(
        "packbelt: error: this workspace has no suite of evals; write one as evals/<name>.yaml, or name a "
        "workspace that has some with -w DIR\n"
    )


def test_a_suite_of_a_workspace_is_played_with_its_own_agents_and_snapshot(run, fleet):
    (fleet / "evals").mkdir()
    (fleet / "evals" / "weather.yaml").write_text(
        "cases:\n"
        "  - {id: ask, request: What is the weather in Lisbon?, expect: [use_mcp_server],"
        " forbid: [weather/get_forecast]}\n"
        "  - {id: by-the-agent, agent: mcp_agent, request: The weather?, expect: [weather/get_forecast]}\n"
    )
    done = run(fleet, "eval", "--snapshot", "now.yaml")
    assert done.exit_code == 0
    assert "ask           reached  use_mcp_server        use_mcp_server\n" in done.stdout
    assert "by-the-agent  reached  weather/get_forecast  weather/get_forecast\n" in done.stdout
    without = run(fleet, "eval")
    assert without.exit_code == 2
    assert "error: evals/weather.yaml:2: 'weather/get_forecast' in `forbid` matches nothing" in without.stderr


def test_a_recording_says_the_same_again_and_fits_no_other_layout(run, tmp_path):
    file = tmp_path / "kept.jsonl"
    first = run(ROOT, "eval", "seed", "--record", file)
    again = run(ROOT, "eval", "seed", "--model", f"replay:{file}")
    assert (first.exit_code, again.exit_code) == (0, 0)
    (told, rates), (said, rated) = (done.stdout.split("\nrates,") for done in (first, again))
    assert said == told.replace("seed: scripted", f"seed: replay:{file}")
    assert rated.split()[-4:] == rates.split()[-4:]
    other = run(ROOT, "eval", "seed", "--model", f"replay:{file}", "--layout", "packed")
    assert other.exit_code == 1
    assert (
        "first step 0 of 0, within their steps 0 of 0 (5 plays not judged: the eval itself failed)"
        in other.stdout
    )
    assert "at reply number 1 the tools sent is not what was recorded; record it anew" in other.stdout


def test_a_recording_is_neither_written_over_while_it_is_replayed_nor_written_with_gaps(run, tmp_path):
    file, results = tmp_path / "kept.jsonl", tmp_path / "results.jsonl"
    assert run(ROOT, "eval", "seed", "--record", file, "--results", results).exit_code == 0
    before = file.read_bytes()
    for args, said in [
        (("--model", f"replay:{file}"), "is replayed and cannot be recorded into; record elsewhere"),
        (
            ("--results", results),
            f"would lack the replies of what {results} holds already; name another --results FILE",
        ),
    ]:
        done = run(ROOT, "eval", "seed", *args, "--record", file)
        assert (done.exit_code, done.stderr) == (2, f"packbelt: error: {file}: {said}\n")
        assert file.read_bytes() == before
    nowhere = tmp_path / "no" / "folder.jsonl"
    done = run(ROOT, "eval", "seed", "--record", nowhere)
    assert (done.exit_code, done.stderr) == (
        2,
        f"packbelt: error: {nowhere}: cannot be written: No such file or directory; check the directory\n",
    )


def test_what_is_no_recording_is_refused_with_its_line(run, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"model": "m"}\n')
    done = run(ROOT, "eval", "--model", f"replay:{tmp_path}/x.jsonl")
    assert done.exit_code == 2
    assert f"{tmp_path}/x.jsonl:1: is no line of a recording; record it with --record FILE" in done.stderr


def test_several_conditions_are_a_table_with_a_row_for_each(run):
    done = run(
        ROOT, "eval", "seed", "--model", "scripted", "--model", "bot:raw", "--layout", "all", "--repeat", "2"
    )
    assert done.exit_code == 1
    cells = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()[2:8]]
    assert [row[0] for row in cells] == ["scripted"] * 3 + ["bot:raw"] * 3
    assert [row[1] for row in cells] == ["promoted", "packed", "flat"] * 2
    assert [row[2:4] for row in cells[3:]] == [["10", "10"], ["10", "0"], ["10", "0"]]
    assert [row[-1] for row in cells[3:]] == ["reached 10", "raw_tool 10", "raw_tool 10"]
    belts = [int(row[4].replace(",", "")) for row in cells]
    assert belts[:3] == belts[3:]  # a belt does not know who reads it
    assert belts[1] < belts[0] < belts[2]


def test_repeats_of_a_case_are_one_line_and_each_has_its_trace(run):
    done = run(ROOT, "eval", "seed", "--model", "bot:raw", "--layout", "packed", "--repeat", "3", "--trace")
    assert done.exit_code == 1
    assert done.stdout.count("seed: bot:raw, packed, 3 plays of each case\n") == 1
    (line,) = re.findall(r"^  mcp-use-connected .*", done.stdout, re.MULTILINE)
    assert re.split(r"\s{2,}", line.strip())[1] == "raw_tool 3"
    assert "first step 0 of 5, within their steps 0 of 5\n" in done.stdout
    assert "  mcp-use-connected, repeat 2: " in done.stdout
    assert "conditions" not in done.stdout


@pytest.mark.parametrize(
    "name", ["repack-handoffs", "open-raw-tools", "static-sections", "permission-before-existence"]
)
def test_each_cause_of_the_report_put_back_makes_the_seed_exit_1(run, name):
    done = run(ROOT, "eval", "seed", "--mutate", name)
    assert done.exit_code == 1
    assert f"seed: scripted, promoted, {name}\n" in done.stdout
    assert run(ROOT, "eval", "seed", "--mutate", "null").exit_code == 0


def test_the_seed_notices_every_breakage_and_the_score_says_by_what(run):
    done = run(ROOT, "eval", "seed", "--mutate", "all", "--json")
    assert done.exit_code == 0
    score = json.loads(done.stdout)["mutation_score"]
    said = {one["mutation"]: one["by"] for one in score["mutants"]}
    assert score["null"] == {"green": True, "failing": []}
    assert said["static-sections"] == [
        {"model": "scripted", "layout": "promoted", "cases": ["seed/skill-install-by-purpose"]}
    ]
    assert (score["killed"], score["errors"], len(said)) == (11, 0, 11)
    assert {name for name in said if name.startswith("repack:")} == {
        "repack:setup_skills",
        "repack:run_skill",
        "repack:use_mcp_server",
        "repack:setup_mcp_server",
    }


def test_a_suite_that_misses_a_breakage_exits_1_and_is_told_which(run):
    done = run(ROOT, "eval", "controls", "--mutate", "all")
    assert done.exit_code == 1
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()]
    assert rows[2] == ["null", "green"]
    assert ["static-sections", "killed", "controls/no-tool-out-of-reach"] in rows
    assert ["repack-handoffs", "survived"] in rows
    assert "  no-hints was not noticed: A refusal names no way out.\n" in done.stdout


def test_what_is_no_mutation_is_one_line_and_exit_2(run):
    done = run(ROOT, "eval", "seed", "--mutate", "repack-handoff")
    assert (done.exit_code, done.stderr) == (
        2,
        "packbelt: error: no mutation is called 'repack-handoff'; did you mean 'repack-handoffs'?\n",
    )


def test_a_results_file_is_gone_on_with_and_another_run_s_is_refused(run, tmp_path):
    file = tmp_path / "kept.jsonl"
    first = run(ROOT, "eval", "seed", "--results", file)
    lines = file.read_bytes()
    assert lines.count(b"\n") == 6
    again = run(ROOT, "eval", "seed", "--results", file)
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert file.read_bytes() == lines
    more = run(ROOT, "eval", "seed", "--results", file, "--repeat", "2")
    assert more.exit_code == 0
    assert file.read_bytes().startswith(lines)
    assert file.read_bytes().count(b"\n") == 11
    other = run(ROOT, "eval", "controls", "--results", file)
    assert (other.exit_code, other.stderr) == (
        2,
        f"packbelt: error: {file}: was written for other suites; name another file, or move this one away\n",
    )


def test_the_help_names_every_model_and_layout(run, tmp_path):
    from packbelt.evals import LAYOUTS, MODELS, MUTATIONS

    text = " ".join(run(tmp_path, "eval", "--help").stdout.split())
    assert all(name.removeprefix("bot:") in text for name in MODELS)
    assert f"[{'|'.join((*LAYOUTS, 'all'))}]" in text
    assert all(name in text.replace("- ", "-") for name in MUTATIONS)
