"""A workspace that follows its files: real ones, saved as editors save them."""

import os
import shutil
import subprocess
import sys
from contextlib import aclosing, asynccontextmanager

import anyio
import pytest

import packbelt
from packbelt.catalog import watch as watching

PACK = "id: files\nsummary: {summary}\ntools:\n  - {{name: file_read, input_schema: {{type: object}}}}\n"


@pytest.fixture
def root(tmp_path):
    home = tmp_path / "home"
    (home / "packs").mkdir(parents=True)
    (home / "prompts/agents").mkdir(parents=True)
    (home / "packbelt.yaml").write_text("opener: use_pack\n")
    (home / "packs/files.yaml").write_text(PACK.format(summary="First."))
    return home


class Following:
    """What became of the files, as it came."""

    def __init__(self):
        self.came = []
        self._read = 0

    async def next(self):
        with anyio.fail_after(30):
            while len(self.came) == self._read:
                await anyio.sleep(0.01)
        self._read += 1
        return self.came[self._read - 1]

    async def summary(self):
        """The files pack's summary in the next workspace but for those that were overtaken."""
        return (await self.next()).packs["files"].summary


@asynccontextmanager
async def following(root):
    workspace = packbelt.load(root)
    seen = Following()
    async with anyio.create_task_group() as tasks:

        async def read():
            async with aclosing(workspace.watch(seen.came.append)) as workspaces:
                async for one in workspaces:
                    seen.came.append(one)

        tasks.start_soon(read)
        yield seen
        tasks.cancel_scope.cancel()


def run(main):
    anyio.run(main)


def save(path, text):
    """As many editors do: a file beside it, put in its place."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    beside.replace(path)


def test_a_file_that_is_saved_is_another_workspace(root):
    async def main():
        async with following(root) as seen:
            save(root / "packs/files.yaml", PACK.format(summary="Second."))
            assert await seen.summary() == "Second."
            (root / "packs/files.yaml").write_text(PACK.format(summary="Third."))
            assert await seen.summary() == "Third."

    run(main)


def test_what_was_saved_before_anybody_watched_is_seen(root):
    async def main():
        workspace = packbelt.load(root)
        save(root / "packs/files.yaml", PACK.format(summary="Meanwhile."))
        async with aclosing(workspace.watch()) as workspaces:
            with anyio.fail_after(30):
                assert (await anext(workspaces)).packs["files"].summary == "Meanwhile."

    run(main)


def test_a_broken_file_is_told_once_and_its_mend_too(root):
    async def main():
        async with following(root) as seen:
            save(root / "packs/files.yaml", "id: files\nsummary: [\n")
            problem = await seen.next()
            assert isinstance(problem, packbelt.WorkspaceError)
            assert problem.where.file == "packs/files.yaml"
            save(root / "packs/files.yaml", "id: files\nsummary: [\n")  # as broken as before
            save(root / "packs/files.yaml", "id: files\nsumary: Other.\ntools: []\n")
            other = await seen.next()
            assert "sumary" in str(other)
            save(root / "packs/files.yaml", PACK.format(summary="First."))  # as it was when it was loaded
            assert await seen.summary() == "First."

    run(main)


def test_an_emptied_configuration_keeps_what_it_denied(root):
    (root / "packbelt.yaml").write_text("deny: [file_read]\n")

    async def main():
        async with following(root) as seen:
            (root / "packbelt.yaml").write_text("")
            assert "is empty" in str(await seen.next())

    run(main)


def test_folders_that_go_and_come_back_are_seen(root):
    async def main():
        async with following(root) as seen:
            (root / "packs").rename(root / "away")
            assert (await seen.next()).packs == {}
            shutil.rmtree(root / "prompts")
            (root / "away").rename(root / "packs")
            assert await seen.summary() == "First."
            # The folder in its place is another one: what is saved there counts as well.
            other = root / "other"
            shutil.copytree(root / "packs", other)
            save(other / "files.yaml", PACK.format(summary="Other folder."))
            shutil.rmtree(root / "packs")
            other.rename(root / "packs")
            while (found := (await seen.next()).packs) == {}:
                pass
            assert found["files"].summary == "Other folder."
            save(root / "packs/files.yaml", PACK.format(summary="In it."))
            assert await seen.summary() == "In it."

    run(main)


def test_a_workspace_that_goes_as_a_whole_is_a_problem_until_it_is_back(root):
    async def main():
        async with following(root) as seen:
            root.rename(root.with_name("elsewhere"))
            assert "is no directory" in str(await seen.next())
            root.with_name("elsewhere").rename(root)
            assert await seen.summary() == "First."
            save(root / "packs/files.yaml", PACK.format(summary="After it."))
            assert await seen.summary() == "After it."

    run(main)


def test_what_is_beside_the_files_wakes_nobody(root):
    async def main():
        async with following(root) as seen:
            git = root / ".git"
            git.mkdir()
            for number in range(20):
                (git / "index").write_text(str(number))
                (root / "packs/.files.yaml.swp").write_text(str(number))
                (root / "packs/files.yaml~").write_text(str(number))
                (root / f"notes{number}.md").write_text("x")
            os.utime(root / "packs/files.yaml")  # touched, and the same
            save(root / "packs/files.yaml", PACK.format(summary="Really."))
            assert await seen.summary() == "Really."
            assert len(seen.came) == 1

    run(main)


def test_a_burst_ends_in_the_last_of_it(root):
    async def main():
        async with following(root) as seen:
            for number in range(30):
                save(root / "packs/files.yaml", PACK.format(summary=f"Number {number}."))
                await anyio.sleep(0.005)
            while await seen.summary() != "Number 29.":
                pass
            assert len(seen.came) < 30

    run(main)


def test_an_agent_in_a_new_folder_is_seen(root):
    shutil.rmtree(root / "prompts")

    async def main():
        async with following(root) as seen:
            folder = root / "prompts/agents"
            folder.mkdir(parents=True)
            (folder / "helper.md").write_text("---\nname: helper\ndescription: Helps.\n---\nYou help.\n")
            assert "helper" in (await seen.next()).agents

    run(main)


def test_without_a_listener_problems_are_logged(root, caplog):
    async def main():
        workspace = packbelt.load(root)
        async with anyio.create_task_group() as tasks:

            async def read():
                async with aclosing(workspace.watch()) as workspaces:
                    async for _ in workspaces:
                        pass

            tasks.start_soon(read)
            save(root / "packs/files.yaml", "id: [\n")
            with anyio.fail_after(30):
                while not caplog.records:
                    await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    run(main)
    assert {record.name for record in caplog.records} == {"packbelt.watch"}
    assert "packs/files.yaml" in caplog.text


def test_only_folders_of_the_workspace_are_watched(root):
    for name in (
        "node_modules/deep",
        ".git/objects",
        "src/code",
        "packs/below",
        "skills/pdf/scripts",
        ".claude/agents",
    ):
        (root / name).mkdir(parents=True)
    found = {path.relative_to(root).as_posix() for path in watching.watched(packbelt.load(root))}
    assert found == {
        ".", "packs", "packs/below", "prompts", "prompts/agents", "skills", "skills/pdf", ".claude", ".claude/agents",
    }  # fmt: skip


def test_links_lead_the_watcher_neither_out_nor_round(root, tmp_path):
    (tmp_path / "elsewhere/deep/deeper").mkdir(parents=True)
    (root / ".claude/agents").mkdir(parents=True)
    (root / ".agents/skills/pdf").mkdir(parents=True)
    (root / ".claude/skills").mkdir()
    (root / ".claude/skills/pdf").symlink_to(root / ".agents/skills/pdf")
    workspace = packbelt.load(root)
    before = watching.watched(workspace)
    assert {root / ".agents/skills/pdf", root / ".claude/skills/pdf"} <= set(before)
    (root / ".claude/agents/out").symlink_to(tmp_path / "elsewhere")
    for name in "abcdefghi":  # nine links, eight levels: more ways than anybody can walk
        (root / "packs" / name).symlink_to(".")
    assert set(watching.watched(workspace)) == set(before)


def test_an_entry_that_cannot_be_asked_what_it_is_is_no_folder(root):
    (root / ".claude/agents").mkdir(parents=True)
    for folder in ("packs", "prompts/agents", ".claude/agents"):
        (root / folder / "link").symlink_to("x" * 300)  # longer than a name may be
    workspace = packbelt.load(root)
    assert root / "packs" in watching.watched(workspace)
    assert not any("link" in path for path, *_ in watching.signature(workspace))


def test_loading_imports_no_watcher(root):
    code = (
        "import sys, packbelt\n"
        f"packbelt.load({str(root)!r})\n"
        "print([name for name in ('watchfiles', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
