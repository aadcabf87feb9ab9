"""Skills, and the repositories, directories and archives that hold them: all real, all in a temporary folder."""

import io
import os
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

import anyio

from packbelt import toolkits


def skill_text(name, description=None, **more):
    lines = [f"name: {name}", f"description: {description or 'Does ' + name + '.'}"]
    lines += [f"{key}: {value}" for key, value in more.items()]
    return "---\n" + "\n".join(lines) + f"\n---\n# {name}\n\nRun scripts/run.sh.\n"


def write(folder, files):
    """Files by path; a value that is a tuple is a text and a mode."""
    for name, given in files.items():
        text, mode = given if isinstance(given, tuple) else (given, 0o644)
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)


def git(folder, *args):
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{
            f"GIT_{who}_{what}": "t@example.invalid"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(["git", *args], cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    write(folder, files)
    return commit(folder)


def commit(folder, message="work"):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def member(name, data=b"", *, kind=tarfile.REGTYPE, link="", mode=0o644):
    """A member of a tar file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def make_tar(path, *members, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


def make_zip(path, *members):
    """A zip whose entries have exactly these names: `(name, bytes)` or `(name, bytes, mode)`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data, *mode in members:
            info = zipfile.ZipInfo("x")
            info.filename = name  # ZipInfo(name) would mend it
            info.create_system = 3
            info.external_attr = (mode[0] if mode else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, data)
    return path


def alive(pid):
    """Whether a process has not ended; one that nobody has waited for yet has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def assert_gone(numbers):
    deadline = time.monotonic() + 5
    for pid in numbers:
        while alive(pid):
            assert time.monotonic() < deadline, f"{pid} lives"
            time.sleep(0.01)


class World:
    """A workspace and its tools; a tool is called by its name and gives what it returns."""

    def __init__(self, tmp_path, *sources, **options):
        self.root = tmp_path / "workspace"
        self.root.mkdir(exist_ok=True)
        (self.root / "packbelt.yaml").write_text("")
        self.cache = tmp_path / "cache"
        made = toolkits.skills(self.root, sources=sources, cache=self.cache, **options)
        self.tools = {function.__name__: function for function in [*made, *toolkits.shell(self.root)]}

    def __call__(self, name, /, **arguments):
        async def call():
            return await self.tools[name](**arguments)

        return anyio.run(call)

    @property
    def skills(self):
        return self.root / "skills"

    def left(self):
        """All that lies in the skills folder, its lock apart."""
        if not self.skills.exists():
            return []
        found = (path.relative_to(self.skills).as_posix() for path in self.skills.rglob("*"))
        return sorted(name for name in found if name != ".packbelt.lock")

    def fetched(self):
        """Names of what half-done fetches left."""
        return sorted(path.name for path in self.cache.glob(".*")) if self.cache.exists() else []
