"""Bad input: exit code 2, one line on standard error that says what and where, and never a traceback."""

import pytest
from click.testing import CliRunner

from packbelt.cli import cli
from packbelt.cli.options import Source

ALIAS_BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

DID_NOT_LOAD = "packbelt: prompts/agents/broken.md:4: agent 'broken': "
"""How a line begins that says so of the fleet's broken agent, whatever else was asked for."""


def refused(done, *said):
    assert done.exit_code == 2
    lines = [line for line in done.stderr.splitlines() if not line.startswith(DID_NOT_LOAD)]
    assert len(lines) == 1, lines
    assert lines[0].startswith("packbelt: error: ")
    assert "Traceback" not in done.stderr
    for words in said:
        assert words in lines[0]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["dump", "nobody"], ["no agent is called 'nobody'"]),
        (["dump", "broken"], ["prompts/agents/broken.md:4: ", "write []"]),
        (["dump", "broken", "--json"], ["prompts/agents/broken.md:4: "]),
        (["dump", "refused"], ["prompts/agents/refused.md:4: ", "'refused' cannot start"]),
        (["explain", "refused", "clock"], ["prompts/agents/refused.md:4: "]),
        (["hint", "broken", "clock"], ["prompts/agents/broken.md:4: "]),
        (["prompt", "nobody"], ["nobody"]),
        (["dump", "--snapshot", "missing.yaml"], ["missing.yaml: "]),
        (["dump", "--workspace", "missing"], ["missing: "]),
        (["check", "--workspace", "packs"], ["packs: "]),
        (["dump", "--method", "guess"], ["--method", "packbelt dump --help"]),
        (["dump", "--frobnicate"], ["--frobnicate"]),
        (["explain", "orchestrator"], ["TOOL"]),
        (["hint", "orchestrator", "x", "y"], ["y"]),
        (["dmp"], ["did you mean 'dump'?"]),
        (["DUMP"], ["did you mean 'dump'?"]),
        (["sevre"], ["no command is called 'sevre'"]),
    ],
)
def test_arguments(fleet, run, args, said):
    refused(run(fleet, *args), *said)


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("packbelt.yaml", b"orchestratr: x\n", "packbelt.yaml:1: "),
        ("packbelt.yaml", b"opener: a\nopener: b\n", "packbelt.yaml:2: "),
        ("packbelt.yaml", b"servers:\n\tx: {}\n", "packbelt.yaml:2: "),
        ("packbelt.yaml", b"deny: null\n", "packbelt.yaml:1: "),
        ("packbelt.yaml", b"deny: [no_such_tool]\n", "packbelt.yaml:1: "),
        ("packbelt.yaml", b"opener: '\xff'\n", "packbelt.yaml"),
        ("packbelt.yaml", b"#" * (1 << 20) + b"\n", "packbelt.yaml"),
        ("packbelt.yaml", ALIAS_BOMB.encode(), "packbelt.yaml"),
        ("packs/files.yaml", b"id: files\ntools:\n  - {description: No name.}\n", "packs/files.yaml:3: "),
        ("packs/copy.yaml", b"id: files\n", "files"),
        ("packbelt.lock", b"{", "packbelt.lock"),
    ],
)
def test_files(fleet, run, file, text, said):
    (fleet / file).write_bytes(text)
    for args in (["dump"], ["dump", "orchestrator", "--json"], ["check"]):
        refused(run(fleet, *args), said)


@pytest.mark.parametrize(
    "text",
    ["servers: {a: {status: connected, tools: [{name: x", "servers: {a: {status: on}}\n", "", "[]\n", "{}x"],
)
def test_snapshots(fleet, run, text):
    (fleet / "now.yaml").write_text(text)
    refused(run(fleet, "dump", "orchestrator", "--snapshot", "now.yaml"), "now.yaml")


def test_names_from_files_cannot_command_the_terminal(fleet, run):
    refused(run(fleet, "dump", "\x1b[31mred\nline"))


def test_a_mistake_of_packbelts_own_is_one_line_too(fleet, run, monkeypatch):
    def explode(*_):
        raise KeyError("what")

    monkeypatch.setattr(Source, "workspace", explode)
    monkeypatch.delenv("PACKBELT_TRACEBACK", raising=False)
    refused(run(fleet, "dump"), "KeyError: 'what'", "PACKBELT_TRACEBACK=1")
    monkeypatch.setenv("PACKBELT_TRACEBACK", "1")
    assert isinstance(CliRunner().invoke(cli, ["dump"]).exception, KeyError)


def test_an_interrupt_is_no_error(fleet, run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Source, "workspace", interrupt)
    assert run(fleet, "dump").exit_code == 130


def test_a_reader_who_has_enough_ends_it_quietly(fleet, process):
    program = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-m', 'packbelt', 'dump', '--json'], stdout=subprocess.PIPE,"
        " stderr=subprocess.PIPE)\n"
        "child.stdout.close()\n"
        "print(child.stderr.read().decode(), child.wait())\n"
    )
    assert process("-c", program, cwd=fleet).stdout.split() == ["141"]


def test_the_embedded_workspace_says_so_once(process):
    done = process("-m", "packbelt", "prompt", "orchestrator")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "packbelt: no workspace here; this is packbelt's own (-w DIR names another)"
    ]
    assert done.stdout


def test_a_terminal_without_the_letters_gets_them_escaped(fleet, process, broken_line):
    done = process("-m", "packbelt", "dump", "orchestrator", cwd=fleet, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, broken_line + "\n")
    assert "\\u2192 mcp_agent" in done.stdout


@pytest.mark.parametrize(
    "template",
    [
        "{% for x in %}",
        "{% for a in range(1000) %}{% for b in range(1000) %}x{% endfor %}{% endfor %}",
        "{{ ().__class__.__mro__ }}",
    ],
)
def test_a_section_that_fails_refuses_whoever_is_asked_for_by_name(tmp_path, template):
    (tmp_path / "packbelt.yaml").write_text("")
    (tmp_path / "prompts/sections").mkdir(parents=True)
    (tmp_path / "prompts/sections/routing.j2").write_text(f"\n{template}\n")
    for args in (["prompt", "orchestrator"], ["dump", "orchestrator"], ["dump", "orchestrator", "--json"]):
        done = CliRunner().invoke(cli, [*args, "-w", str(tmp_path)])
        refused(done, "prompts/sections/routing.j2:2: ")
        assert done.stdout == ""
    assert CliRunner().invoke(cli, ["dump", "-w", str(tmp_path)]).exit_code == 0
