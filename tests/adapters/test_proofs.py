"""A capability that no test proves may not be claimed."""

import importlib
import importlib.metadata
import re
from contextlib import suppress
from pathlib import Path

import pytest
from proofs import PROOFS
from targets_built import BUILT

from packbelt.providers import Axis, target

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULES = sorted([*HERE.glob("test_*.py"), *(HERE.parent / "providers").glob("test_*.py")])


@pytest.fixture(scope="module")
def proofs():
    """Every proof that the tests of providers and adapters register where they are imported."""
    for path in MODULES:
        with suppress(pytest.skip.Exception):  # an SDK that is opt-in; its other proofs need none
            importlib.import_module(path.stem)
    return PROOFS


@pytest.mark.parametrize("axis", Axis)
@pytest.mark.parametrize("name", BUILT)
def test_every_claim_of_a_descriptor_is_proved_by_a_test(name, axis, proofs):
    cell = target(name).enforcement[axis]
    assert cell.target
    assert proofs[name, axis], f"nothing proves {axis} of {name}"


@pytest.mark.parametrize("name", BUILT)
def test_what_was_proved_on_is_the_pinned_and_the_installed_version(name):
    described = target(name)
    if not described.package:
        pytest.skip("it needs no package")
    assert re.fullmatch(r"\d+(\.\d+)+\S*", described.proved_on)
    pinned = dict(
        line.split("==") for line in (ROOT / ".ci/constraints.txt").read_text().split() if "==" in line
    )
    assert pinned.get(described.package) == described.proved_on
    try:
        installed = importlib.metadata.version(described.package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{described.package} is not installed here")
    assert installed == described.proved_on
