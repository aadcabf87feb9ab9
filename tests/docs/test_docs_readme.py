"""README.md cannot drift: its Python runs and says what its comments say, and its commands parse."""

import ast
import re
import shutil
import subprocess
import sys

import pytest
from pages import README, ROOT, fences, packbelt_commands, parses

import packbelt

NOW = "servers:\n  weather: {status: connected, tools: [{name: get_forecast, inputSchema: {type: object}}]}\n"


def snippets():
    return [
        text
        for language, _, text in fences(README)
        if language == "python" and "import packbelt" in text and "async def" not in text
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory in which `my-agents` is packbelt's own workspace, copied, and `now.yaml` a snapshot."""
    for name in ("packs", "prompts"):
        shutil.copytree(ROOT / name, tmp_path / "my-agents" / name)
    shutil.copy(ROOT / "packbelt.yaml", tmp_path / "my-agents")
    (tmp_path / "now.yaml").write_text(NOW)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_a_snippet():
    assert snippets()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("code", snippets())
def test_the_snippet_runs_and_its_comments_hold(code):
    """A comment in quotes is the value of its expression; one beside `result = ...` is the result's text."""
    names = {}
    claims = 0
    for node in ast.parse(code).body:
        if isinstance(node, ast.Expr):
            value = eval(ast.unparse(node), names)  # the README's own lines
            if promised := re.match('"([^"]*)"', comment(code, node.end_lineno)):
                claims += 1
                assert value == promised[1], ast.unparse(node)
        else:
            exec(ast.unparse(node), names)
    for line in code.splitlines():
        found = re.match(r"\s*result = [^#]*\S\s+# (.*)", line)
        if found and "..." not in line.partition("#")[0]:
            claims += 1
            pattern = re.escape(found[1]).replace(re.escape("..."), ".*")
            assert re.fullmatch(pattern, names["result"], re.DOTALL), names["result"]
    assert claims >= 2


def comment(code, line):
    return code.splitlines()[line - 1].partition("  #")[2].strip()


def written():
    """The README's examples of files: YAML that begins with its name, and an agent's Markdown."""
    found = {}
    for language, _, text in fences(README):
        if language == "yaml" and (name := re.match(r"# (\S+\.yaml)\b", text)):
            found[name[1]] = text
        if language == "markdown" and (name := re.search(r"^name: (\S+)$", text, re.MULTILINE)):
            found[f"prompts/agents/{name[1]}.md"] = text
    return found


def test_the_files_in_the_readme_load_as_one_workspace(tmp_path):
    files = written()
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert set(files) == {"packs/integrations.yaml", "prompts/agents/mcp_agent.md"}
    workspace = packbelt.load(tmp_path)
    assert workspace.broken == {}
    assert workspace.diagnostics == ()


@pytest.mark.parametrize("words", packbelt_commands(README), ids=" ".join)
def test_every_command_parses(words):
    assert parses(words).command.name == words[0]  # raises for what is unknown, wrong, or too many


def test_the_readme_has_commands():
    assert len(packbelt_commands(README)) >= 4


def test_the_costs_in_the_readme_are_what_its_command_prints():
    shown = subprocess.run(
        [sys.executable, str(ROOT / "evals/bench/layouts.py")], capture_output=True, text=True, check=True
    ).stdout
    figures = [re.findall(r"(?<![\w-])[\d,]*\d(?![\w-])", line) for line in shown.splitlines()[1:]]
    table = (ROOT / "README.md").read_text().split("| layout |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in table.splitlines()[2:]]
    assert len(rows) == 3
    assert rows == figures
    totals = [int(row[-1].replace(",", "")) for row in rows]
    assert f"costs {totals[1] - totals[0]} tokens a turn" in (ROOT / "README.md").read_text().replace(
        "\n", " "
    )
