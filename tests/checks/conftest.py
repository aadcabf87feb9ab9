"""Workspaces written out as files, and the findings of one code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from packbelt.catalog.load import load
from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.checks import run
from packbelt.model import Code, Diagnostic

Build = Callable[..., Workspace]
Find = Callable[..., list[Diagnostic]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A workspace from files by path, without their common indent; `packbelt.yaml` is there by default."""

    def write(files: Mapping[str, str], **given: object) -> Workspace:
        for name, text in {"packbelt.yaml": "opener: use_pack\n", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return load(tmp_path, **given)

    return write


@pytest.fixture
def find() -> Find:
    """The findings of one code."""

    def of_code(workspace: Workspace, code: Code, snapshot: Snapshot | None = None) -> list[Diagnostic]:
        return [found for found in run(workspace, snapshot) if found.code is code]

    return of_code


@pytest.fixture
def agent() -> Callable[..., str]:
    """The text of an agent's file."""

    def text(keys: str = "", body: str = "You help.") -> str:
        extra = "".join(f"{line}\n" for line in dedent(keys).strip().splitlines())
        return f"---\ndescription: Does its job.\n{extra}---\n{body}\n"

    return text
