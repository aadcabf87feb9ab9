"""`packbelt compile`: a form as JSON, what stays open for people, and every target side by side."""

import json
import os
import pty
import re
import select
import subprocess
import sys

import pytest

import packbelt
from packbelt.model import PackbeltError
from packbelt.providers import TARGETS, Axis, target

SPACED = """\
id: spaced
summary: One tool whose parameter has a blank.
exposure: direct
tools:
  - {name: stamp, description: Stamps., permission: read,
     input_schema: {type: object, properties: {"the day": {type: string}}}}
"""


@pytest.fixture
def spaced(fleet):
    """The fleet with a tool that one target cannot say."""
    (fleet / "packs/spaced.yaml").write_text(SPACED)
    return fleet


def form_of(root, name, agent="orchestrator", **options):
    return packbelt.turn(packbelt.load(root), None, agent).compile(name, **options)


# one form -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TARGETS)
def test_a_form_is_json_on_standard_output_and_nothing_else(fleet, run, name, broken_line):
    done = run(fleet, "compile", "orchestrator", "--for", name, "--allow-missing")
    form = form_of(fleet, name, strict=False)
    assert done.exit_code == 0
    assert json.loads(done.stdout) == json.loads(json.dumps(dict(form.kwargs)))
    assert done.stderr.splitlines()[0] == broken_line
    assert len(done.stderr.splitlines()) == 1 + len(form.diagnostics)


@pytest.mark.parametrize("name", TARGETS)
def test_json_has_form_names_enforcement_and_diagnostics(fleet, run_json, name):
    said = run_json(fleet, "compile", "orchestrator", "--for", name, "--allow-missing")
    assert set(said) >= {"target", "form", "names", "enforcement", "diagnostics"}
    assert said["target"] == name
    assert set(said["enforcement"]) == {str(axis) for axis in Axis}
    for axis, cell in said["enforcement"].items():
        assert set(cell) == {"target", "guard", "open"}, axis
        assert cell["target"], axis
    assert said["names"]["use_mcp_server"] in json.dumps(said["form"])


def test_without_an_agent_it_is_the_orchestrator(fleet, run):
    named = run(fleet, "compile", "orchestrator", "--for", "openai")
    assert run(fleet, "compile", "--for", "openai").stdout == named.stdout
    assert "You sort requests." in named.stdout


def test_servers_are_as_the_snapshot_says(fleet, run_json):
    without = run_json(fleet, "compile", "mcp_agent", "--for", "openai")
    now = run_json(fleet, "compile", "mcp_agent", "--for", "openai", "--snapshot", "now.yaml")
    assert "mcp__weather__get_forecast" not in without["names"]
    assert now["names"]["mcp__weather__get_forecast"] == "mcp__weather__get_forecast"


def test_search_puts_packs_into_the_targets_own_deferral(fleet, run_json):
    plain = run_json(fleet, "compile", "--for", "anthropic")
    searched = run_json(fleet, "compile", "--for", "anthropic", "--search")
    assert "use_pack" in [tool["name"] for tool in plain["form"]["tools"]]
    deferred = [tool["name"] for tool in searched["form"]["tools"] if tool.get("defer_loading")]
    assert "file_read" in deferred
    assert "use_pack" not in [tool["name"] for tool in searched["form"]["tools"]]


def test_as_spells_names_as_a_client_shows_them(fleet, run_json):
    said = run_json(fleet, "compile", "--for", "mcp", "--as", "packbelt")
    assert said["names"]["use_mcp_server"] == "mcp__packbelt__use_mcp_server"
    assert "use_mcp_server" in [tool["name"] for tool in said["form"]["tools"]]
    assert "`mcp__packbelt__use_mcp_server`" in said["form"]["instructions"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--for", "opnai"], "no target is called 'opnai'; did you mean 'openai'?"),
        (["--for", "gemini", "--search"], "target 'gemini' has no option 'search'; it has: "),
        (["--for", "mcp", "--as", "a b"], "'a b' is no name that a client shows as it is; use letters"),
        ([], "write --for TARGET, or --matrix for all of them"),
        (["--for", "openai", "--matrix"], "--matrix is of all targets, and --for of one: choose one"),
        (["--matrix", "--search"], "--search, --as and --allow-missing belong to --for"),
        (["--matrix", "--allow-missing"], "--search, --as and --allow-missing belong to --for"),
        (["--for", "openai", "--all"], "--all belongs to --matrix"),
        (["orchestrater", "--for", "openai"], "no agent is called 'orchestrater'; did you mean"),
        (["refused", "--for", "openai"], "nowhere"),
    ],
)
def test_bad_input_is_one_line(fleet, run, args, words):
    done = run(fleet, "compile", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    *_, line = done.stderr.splitlines()
    assert line.startswith("packbelt: error: ")
    assert words in line


def test_what_cannot_be_said_there_refuses_the_whole_and_names_both_sides(spaced, run):
    done = run(spaced, "compile", "--for", "anthropic")
    assert (done.exit_code, done.stdout) == (2, "")
    *_, line = done.stderr.splitlines()
    assert line.startswith(
        "packbelt: error: native:stamp has the parameter 'the day', and Anthropic Messages API"
    )
    with pytest.raises(PackbeltError) as raised:
        form_of(spaced, "anthropic")
    assert str(raised.value) in line


def test_with_allow_missing_that_one_tool_is_left_out_and_said_so(spaced, run, run_json):
    whole = run_json(spaced, "compile", "--for", "openai")
    done = run(spaced, "compile", "--for", "anthropic", "--allow-missing")
    assert done.exit_code == 0
    sent = [tool["name"] for tool in json.loads(done.stdout)["tools"]]
    assert sent == [tool["name"] for tool in whole["form"]["tools"] if tool["name"] != "stamp"]
    assert any("native:stamp" in line and "left out" in line for line in done.stderr.splitlines())


def test_strict_exits_1_where_something_stays_open_or_is_left_out(spaced, fleet, run):
    done = run(fleet, "compile", "--for", "openai-chat", "--strict")
    assert (done.exit_code, bool(done.stdout)) == (0, True)
    assert not any(cell.open for cell in target("openai-chat").enforcement.values())
    assert run(fleet, "compile", "--for", "langchain").exit_code == 0
    done = run(fleet, "compile", "--for", "langchain", "--strict")
    assert (done.exit_code, bool(json.loads(done.stdout))) == (1, True)
    opened = ", ".join(axis for axis, cell in target("langchain").enforcement.items() if cell.open)
    assert done.stderr.splitlines()[-1] == f"packbelt: in LangChain this stays open: {opened}"
    assert not any(cell.open for cell in target("anthropic").enforcement.values())
    done = run(spaced, "compile", "--for", "anthropic", "--allow-missing", "--strict")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].endswith("this stays open: stamp is left out")
    assert run(spaced, "compile", "--matrix", "--strict").exit_code == 1
    assert run(spaced, "compile", "--matrix").exit_code == 0


def test_a_prompt_with_a_broken_section_is_not_given(fleet, run):
    (fleet / "prompts/sections").mkdir()
    (fleet / "prompts/sections/routing.j2").write_text("{% if %}")
    done = run(fleet, "compile", "--for", "openai")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "routing" in done.stderr.splitlines()[-1]


# for people -----------------------------------------------------------------------------------------------


def at_terminal(cwd, *args, columns="100"):
    """What a command writes to standard output, and to a terminal that is its standard error."""
    parent, child = pty.openpty()
    env = {**os.environ, "COLUMNS": columns, "TERM": "xterm"}
    command = [sys.executable, "-m", "packbelt", *args]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=child, env=env)
    os.close(child)
    shown, output = b"", b""
    while True:
        ready, _, _ = select.select([parent, process.stdout], [], [], 60)
        assert ready, "it hangs"
        if process.stdout in ready:
            output += os.read(process.stdout.fileno(), 65536)
        if parent in ready:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other end is closed
                part = b""
            shown += part
            if not part:
                break
    output += process.stdout.read()
    process.stdout.close()
    os.close(parent)
    assert process.wait() == 0
    return output.decode(), re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")


def test_on_a_terminal_the_enforcement_stands_on_standard_error(fleet):
    output, shown = at_terminal(fleet, "compile", "orchestrator", "--for", "langchain")
    assert json.loads(output) == json.loads(json.dumps(dict(form_of(fleet, "langchain").kwargs)))
    assert "orchestrator in LangChain" in shown
    assert "langchain 1.5.2" in shown
    words = " ".join(shown.split())
    for head in ("axis", "the target itself", "packbelt", "stays open"):
        assert head in words
    for axis in ("visible", "callable", "approved", "denied", "unknown", "late"):
        assert re.search(rf"^  {axis} ", shown, re.MULTILINE)
    table = shown[shown.index("orchestrator in LangChain") :]
    assert max(map(len, table.splitlines())) <= 100


def test_json_on_a_terminal_is_json_alone(fleet, broken_line):
    output, shown = at_terminal(fleet, "compile", "--for", "openai", "--json")
    assert json.loads(output)["target"] == "openai"
    assert shown.split() == broken_line.split()


# every target ---------------------------------------------------------------------------------------------


def test_the_matrix_has_every_target_against_every_axis(fleet, run):
    lines = run(fleet, "compile", "--matrix").stdout.splitlines()
    assert lines[0] == "orchestrator on every target"
    rows = {line.split()[0]: re.split(r"  +", line.strip()) for line in lines[2 : 2 + len(TARGETS)]}
    assert list(rows) == list(TARGETS)
    for name, (_, tools, *marks, proved) in rows.items():
        cells = target(name).enforcement
        expected = ["open" if cells[a].open else "guard" if cells[a].guard else "target" for a in Axis]
        assert marks == expected, name
        assert int(tools) > 0
        assert proved == f"{target(name).package} {target(name).proved_on}"


def test_the_matrix_says_what_stays_open_and_with_all_every_sentence(fleet, run):
    short, whole = (run(fleet, "compile", "--matrix", *more).stdout for more in ([], ["--all"]))
    for name in TARGETS:
        for cell in target(name).enforcement.values():
            assert cell.open in short
            for sentence in (cell.target, cell.guard, cell.open):
                assert sentence in whole


def test_the_matrix_names_what_a_target_has_not(spaced, run, run_json):
    lines = run(spaced, "compile", "--matrix").stdout.splitlines()
    (line,) = [line for line in lines if "without stamp" in line and "Anthropic" in line]
    assert "takes names of the form" in line
    rows = {row["target"]: row for row in run_json(spaced, "compile", "--matrix")["targets"]}
    assert [one["name"] for one in rows["anthropic"]["left_out"]] == ["stamp"]
    assert "'the day'" in rows["anthropic"]["left_out"][0]["why"]
    assert "stamp" not in rows["anthropic"]["tools"]
    assert rows["openai"]["left_out"] == []
    assert "stamp" in rows["openai"]["tools"]


def test_the_matrix_names_what_is_shown_besides(fleet, monkeypatch, run, run_json):
    """No target's form has a residue by itself; the page is asked what it would say of one."""
    from dataclasses import replace

    from packbelt.turn import Turn

    compiled = Turn.compile

    def with_residue(turn, name, **options):
        form = compiled(turn, name, **options)
        return replace(
            form, enforcement=replace(form.enforcement, residue=("shell",) if name == "gemini" else ())
        )

    monkeypatch.setattr(Turn, "compile", with_residue)
    assert "  shown besides  shell" in run(fleet, "compile", "--matrix").stdout.splitlines()
    rows = {row["target"]: row["residue"] for row in run_json(fleet, "compile", "--matrix")["targets"]}
    assert {name for name, residue in rows.items() if residue} == {"gemini"}


def test_a_target_that_refuses_the_whole_is_one_row_and_no_end(fleet, monkeypatch, run, run_json):
    from packbelt.providers import CompileError
    from packbelt.turn import Turn

    compiled = Turn.compile

    def refusing(turn, name, **options):
        if name == "copilot":
            raise CompileError("it cannot be said", mend="say it otherwise")
        return compiled(turn, name, **options)

    monkeypatch.setattr(Turn, "compile", refusing)
    lines = run(fleet, "compile", "--matrix").stdout.splitlines()
    assert "  refused  it cannot be said; say it otherwise" in lines
    rows = {row["target"]: row for row in run_json(fleet, "compile", "--matrix")["targets"]}
    assert rows["copilot"]["refused"] == "it cannot be said; say it otherwise"
    assert "enforcement" in rows["mcp"]


def test_the_matrix_is_of_the_agent_that_is_asked_for(fleet, run_json):
    said = run_json(fleet, "compile", "mcp_agent", "--matrix", "--snapshot", "now.yaml")
    assert said["agent"] == "mcp_agent"
    assert [row["target"] for row in said["targets"]] == list(TARGETS)
    for row in said["targets"]:
        assert any("get_forecast" in name for name in row["tools"]), row["target"]


# help -----------------------------------------------------------------------------------------------------


def test_help_names_every_target(run, tmp_path):
    text = " ".join(run(tmp_path, "compile", "--help").stdout.split())
    for name in TARGETS:
        assert re.search(rf"\b{name}\b", text), name


def test_targets_complete(run, fleet, monkeypatch):
    monkeypatch.setenv("_PACKBELT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "packbelt compile --for open")
    monkeypatch.setenv("COMP_CWORD", "3")
    lines = run(fleet).stdout.splitlines()
    assert [line.split(",")[1] for line in lines] == ["openai", "openai-chat", "openai-agents"]


def test_no_sdk_is_imported(process, fleet):
    script = (
        "import sys; from packbelt.cli import cli\n"
        "cli(['compile', '--matrix', '--json'], standalone_mode=False)\n"
        "found = {'mcp', 'anyio', 'anthropic', 'openai', 'agents', 'langchain', 'pydantic_ai', 'google.genai'}\n"
        "sys.exit(repr(found & set(sys.modules)) if found & set(sys.modules) else 0)"
    )
    done = process("-c", script, cwd=fleet)
    assert done.returncode == 0, done.stderr
