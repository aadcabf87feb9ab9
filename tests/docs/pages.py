"""Read the docs: their tables, their examples, and what a README's reader would type."""

import re
import shlex
from pathlib import Path

import click

from packbelt.cli import cli

ROOT = Path(__file__).parent.parent.parent
FILES = ROOT / "docs/files.md"
EXAMPLE = ROOT / "docs/examples/first-workspace"
README = ROOT / "README.md"

_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")


def fences(path):
    """Language, file name (or empty) and text of every fenced block."""
    return _FENCE.findall(path.read_text(encoding="utf-8"))


def after(path, mark):
    """The paragraph or table that follows a comment."""
    text = path.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"<!-- {mark} -->\n\n")
    assert found, f"{path.name} has no mark {mark!r}"
    return rest.split("\n\n", 1)[0]


def marks(path):
    return re.findall(r"<!-- (.+?) -->", path.read_text(encoding="utf-8"))


def table(path, mark):
    """The rows of the table after a comment, each as its cells."""
    lines = after(path, mark).splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    assert len({len(row) for row in rows}) == 1, mark
    return rows[2:]


def codes(text):
    """What stands in backticks."""
    return _CODE.findall(text)


def write_examples(path, into):
    """Every example that has a file name, as that file."""
    names = []
    for _, name, text in fences(path):
        if name:
            names.append(name)
            file = into / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return names


def packbelt_commands(path):
    """The words after `packbelt` of every command in a page's console blocks."""
    found = []
    for language, _, text in fences(path):
        if language != "console":
            continue
        for line in text.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if line.startswith("$ ") and "packbelt" in words:
                found.append(words[words.index("packbelt") + 1 :])
    return found


def parses(words):
    """The context of a command as it would run. Its parent is the group: click keeps what `--help` is called."""
    root = click.Context(cli, info_name="packbelt", **cli.context_settings)
    return cli.get_command(root, words[0]).make_context(words[0], list(words[1:]), parent=root)
