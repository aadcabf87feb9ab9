import hashlib
import http.server
import json
import threading

import anyio
import pytest
from skill_world import World, commit, git, make_tar, make_zip, member, repository, skill_text, write

import packbelt
from packbelt import toolkits
from packbelt.catalog.discover import embedded_root
from packbelt.model import ToolCall
from packbelt.toolkits.address import read_url

RUN = ("#!/bin/sh\necho ran $1\n", 0o755)


@pytest.fixture
def acme(tmp_path):
    """A repository of several skills, and its commit."""
    folder = tmp_path / "acme"
    made = repository(
        folder,
        {
            "README.md": "# Skills\n",
            "skills/benchmark/SKILL.md": skill_text(
                "benchmark", "Measures how fast a page loads.", version="1.2.0"
            ),
            "skills/benchmark/scripts/run.sh": RUN,
            "skills/code-review/SKILL.md": skill_text(
                "code-review", "Reads a change and reports its faults."
            ),
            "plugins/web/skills/benchmark-models/SKILL.md": skill_text(
                "benchmark-models", "Compares models."
            ),
            "skills/broken/SKILL.md": "---\nname: broken\ndescription: a: b\n---\n",
            "node_modules/x/SKILL.md": skill_text("vendored"),
        },
    )
    return folder, made


def test_a_skill_of_a_repository_is_found_installed_read_and_removed(tmp_path, acme):
    folder, made = acme
    world = World(tmp_path, toolkits.git("acme", str(folder)))
    (first, *rest) = world("skill_registry_search", query="benchmark")["skills"]
    assert first == {
        "id": "benchmark",
        "name": "benchmark",
        "source": "acme",
        "description": "Measures how fast a page loads.",
        "version": "1.2.0",
        "path": "skills/benchmark",
        "installed": False,
    }
    assert [row["id"] for row in rest] == ["benchmark-models"]

    answer = world("skill_registry_install", id="benchmark")
    assert answer["files"] == ["SKILL.md", "scripts/run.sh"]
    assert (answer["folder"], answer["version"], answer["commit"]) == ("skills/benchmark", "1.2.0", made)
    script = world.skills / "benchmark" / "scripts" / "run.sh"
    assert script.read_text() == RUN[0]
    assert script.stat().st_mode & 0o777 == 0o755
    assert [skill.name for skill in packbelt.load(world.root).skills] == ["benchmark"]
    assert world("skill_registry_search", query="benchmark")["skills"][0]["installed"] is True

    text = world("read_workflow_resource", name="benchmark")
    assert text.splitlines()[0] == "skills/benchmark/SKILL.md, lines 1 to 8 of 8"
    assert text.splitlines()[-1] == "scripts/run.sh"

    assert world("skill_registry_uninstall", name="benchmark") == {"removed": "benchmark", "source": "acme"}
    assert world.left() == []
    assert world.fetched() == []


def test_a_repository_is_fetched_without_its_history_and_as_it_was_committed(tmp_path):
    folder = tmp_path / "repo"
    repository(folder, {"pdf/SKILL.md": skill_text("pdf"), "pdf/old.bin": b"\0" * 10})
    (folder / "pdf" / "old.bin").unlink()
    write(
        folder,
        {
            ".gitattributes": "pdf/notes.md export-ignore\n*.txt text eol=crlf ident export-subst\n*.md filter=x\n",
            "pdf/notes.md": "kept\n",
            "pdf/a.txt": "$Format:%H$ $Id$\n",
        },
    )
    commit(folder)
    world = World(tmp_path, toolkits.git("r", str(folder)))
    world("skill_registry_install", id="pdf")
    assert sorted(path.name for path in (world.skills / "pdf").iterdir() if path.name[0] != ".") == [
        "SKILL.md",
        "a.txt",
        "notes.md",
    ]
    assert (world.skills / "pdf" / "a.txt").read_bytes() == b"$Format:%H$ $Id$\n"


def test_a_repositorys_hooks_and_the_users_configuration_do_not_run(tmp_path, acme, monkeypatch):
    folder, _ = acme
    mark = tmp_path / "ran"
    hook = (f"#!/bin/sh\ntouch {mark}\n", 0o755)
    write(
        tmp_path,
        {f"hooks/{name}": hook for name in ("post-checkout", "reference-transaction", "post-update")},
    )
    write(folder / ".git", {"hooks/post-checkout": hook, "hooks/reference-transaction": hook})
    home = tmp_path / "home"
    elsewhere = f'[url "{tmp_path}/other"]\n\tinsteadOf = {folder}\n'
    write(home, {".gitconfig": f"[core]\n\thooksPath = {tmp_path / 'hooks'}\n{elsewhere}"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    world = World(tmp_path, toolkits.git("acme", str(folder)))
    world("skill_registry_install", id="code-review")
    assert not mark.exists()
    # The same hook does run where git is left to itself, so that the absence of its mark says something.
    git(folder, "checkout", "--quiet", "-b", "other")
    assert mark.exists()


def test_a_version_of_a_repository_is_a_branch_tag_or_commit(tmp_path, acme):
    folder, made = acme
    git(folder, "tag", "v1")
    write(folder, {"skills/code-review/SKILL.md": skill_text("code-review", "Newer.")})
    newer = commit(folder)
    world = World(tmp_path, toolkits.git("acme", str(folder)))
    assert world("skill_registry_install", id="code-review", version="v1")["commit"] == made
    assert world("skill_registry_install", id="code-review", overwrite=True)["commit"] == newer
    assert world("skill_registry_install", id="code-review", version=made, overwrite=True)["commit"] == made
    for version in ("nowhere", "--upload-pack=touch x", "a..b", "-x"):
        with pytest.raises(toolkits.ToolkitError):
            world("skill_registry_install", id="code-review", version=version, overwrite=True)
    assert "Does" not in (world.skills / "code-review" / "SKILL.md").read_text()


def test_an_installation_takes_what_is_there_now_and_a_search_what_was_fetched(tmp_path, acme):
    folder, _ = acme
    world = World(tmp_path, toolkits.git("acme", str(folder)))
    world("skill_registry_search", query="review")
    write(folder, {"skills/fresh/SKILL.md": skill_text("fresh")})
    newer = commit(folder)
    assert world("skill_registry_search", query="fresh")["skills"] == []
    assert world("skill_registry_install", id="fresh", source="acme")["commit"] == newer
    assert [row["id"] for row in world("skill_registry_search", query="fresh")["skills"]] == ["fresh"]
    assert len(list(world.cache.iterdir())) == 1


def test_sources_say_what_they_have_and_one_that_fails_costs_one(tmp_path, acme):
    folder, made = acme
    write(tmp_path / "plain", {"pdf/SKILL.md": skill_text("pdf")})
    world = World(
        tmp_path,
        toolkits.git("acme", str(folder)),
        toolkits.directory("plain", tmp_path / "plain"),
        toolkits.git("gone", str(tmp_path / "nothing")),
    )
    acme_row, plain, gone = world("skill_registry_sources")["sources"]
    assert (acme_row["skills"], acme_row["commit"], acme_row["broken_count"]) == (3, made, 1)
    assert acme_row["broken"][0].startswith("skills/broken: skills/broken/SKILL.md:3: is not valid YAML")
    assert (plain["kind"], plain["skills"]) == ("directory", 1)
    assert "cannot be fetched: fatal:" in gone["problem"]
    found = world("skill_registry_search", query="pdf")
    assert [row["id"] for row in found["skills"]] == ["pdf"]
    assert list(found["unreachable"]) == ["gone"]
    with pytest.raises(toolkits.ToolkitError, match="cannot be fetched"):
        world("skill_registry_search", query="pdf", source="gone")
    with pytest.raises(toolkits.ToolkitError, match=r"no source has a skill 'broken' .*is not valid YAML"):
        world("skill_registry_install", id="broken")


def test_pages_hold_every_skill_once(tmp_path):
    write(tmp_path / "many", {f"s/n{i:02}/SKILL.md": skill_text(f"n{i:02}") for i in range(25)})
    write(tmp_path / "few", {"tools/x/SKILL.md": skill_text("x", category="media")})
    world = World(
        tmp_path, toolkits.directory("many", tmp_path / "many"), toolkits.directory("few", tmp_path / "few")
    )
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = world("skill_registry_browse", limit=10, cursor=cursor)
        seen += [row["id"] for row in page["skills"]]
        cursor, pages = page.get("cursor"), pages + 1
    assert (pages, seen) == (3, ["x", *(f"n{i:02}" for i in range(25))])
    assert [row["id"] for row in world("skill_registry_browse", category="Media")["skills"]] == ["x"]
    assert [row["id"] for row in world("skill_registry_browse", category="tools")["skills"]] == ["x"]


def test_one_name_in_several_places_is_never_guessed(tmp_path):
    write(
        tmp_path / "a",
        {"en/pdf/SKILL.md": skill_text("pdf"), "de/pdf/SKILL.md": skill_text("pdf", "German.")},
    )
    write(tmp_path / "b", {"pdf/SKILL.md": skill_text("pdf", "Other.")})
    world = World(tmp_path, toolkits.directory("a", tmp_path / "a"), toolkits.directory("b", tmp_path / "b"))
    with pytest.raises(toolkits.ToolkitError, match="several sources have 'pdf'; pass source: a, b"):
        world("skill_registry_install", id="pdf")
    with pytest.raises(toolkits.ToolkitError, match="pass one of: de/pdf, en/pdf"):
        world("skill_registry_install", id="pdf", source="a")
    world("skill_registry_install", id="de/pdf", source="a")
    assert "German." in (world.skills / "pdf" / "SKILL.md").read_text()


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz"])
def test_archives_are_sources_too(tmp_path, kind):
    text, script = skill_text("pdf", version="2").encode(), b"#!/bin/sh\n"
    path = tmp_path / f"skills.{kind}"
    if kind == "zip":
        make_zip(
            path, ("top/pdf/", b"", 0o40755), ("top/pdf/SKILL.md", text), ("top/pdf/run", script, 0o100755)
        )
    else:
        mode = "w:gz" if kind == "tar.gz" else "w"
        make_tar(
            path, member("./top/pdf/SKILL.md", text), member("./top/pdf/run", script, mode=0o4755), mode=mode
        )
    world = World(tmp_path, toolkits.archive("packed", path))
    assert world("skill_registry_install", id="pdf", version="2")["files"] == ["SKILL.md", "run"]
    assert (world.skills / "pdf" / "run").stat().st_mode & 0o7777 == 0o755
    with pytest.raises(toolkits.ToolkitError, match="has 'pdf' in version 2 only"):
        world("skill_registry_install", id="pdf", version="3", overwrite=True)


@pytest.fixture
def web(tmp_path):
    """A loopback server of the files below `www`, and its address."""
    folder = tmp_path / "www"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_address_is_an_archive_a_file_or_a_repository(tmp_path, web, acme):
    folder, address = web
    world = World(tmp_path, local_addresses=True)
    packed = make_zip(
        folder / "all.zip", ("a/SKILL.md", skill_text("a").encode()), ("b/SKILL.md", skill_text("b").encode())
    )
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    with pytest.raises(toolkits.ToolkitError, match="it has 2 skills; pass path, one of: a, b"):
        world("install_workflow_from_url", url=f"{address}/all.zip")
    with pytest.raises(toolkits.ToolkitError, match=f"its SHA-256 is {digest}, not the expected one"):
        world("install_workflow_from_url", url=f"{address}/all.zip", path="a", sha256="0" * 64)
    assert world.left() == []
    assert (
        world("install_workflow_from_url", url=f"{address}/all.zip", path="a", sha256=digest)["name"] == "a"
    )

    write(folder, {"one/SKILL.md": skill_text("one")})
    answer = world("install_workflow_from_url", url=f"{address}/one/SKILL.md")
    assert (answer["name"], answer["files"]) == ("one", ["SKILL.md"])

    url = f"file://{acme[0]}"
    answer = world("install_workflow_from_url", url=url, path="skills/code-review", ref="main")
    assert (answer["commit"], answer["source"]) == (acme[1], url)
    with pytest.raises(toolkits.ToolkitError, match="404"):
        world("install_workflow_from_url", url=f"{address}/nothing.zip")
    (folder / "fake.zip").write_text("<html>" * 100)
    with pytest.raises(toolkits.ToolkitError, match="it is no archive"):
        world("install_workflow_from_url", url=f"{address}/fake.zip")

    with pytest.raises(toolkits.ToolkitError, match="came from an address; use uninstall_workflow"):
        world("skill_registry_uninstall", name="one")
    world("uninstall_workflow", name="one")
    assert [skill.name for skill in packbelt.load(world.root).skills] == ["a", "code-review"]
    assert list(world.cache.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x.zip",
        "file:///etc",
        "/etc",
        "ext::sh -c touch% x",
        "--upload-pack=touch",
        "ssh://example.com/x",
        "https://user:word@example.com/x",
        "https://token@example.com/x.zip",
        "",
    ],
)
def test_addresses_that_a_model_may_not_give(tmp_path, url):
    world = World(tmp_path)
    with pytest.raises(toolkits.ToolkitError) as refused:
        world("install_workflow_from_url", url=url)
    assert "cannot be fetched" not in str(refused.value)
    assert not world.cache.exists()


def test_a_folder_as_a_browser_shows_it(tmp_path):
    given = read_url("https://github.com/acme/skills/tree/main/a/b%20c", None, local=False)
    assert (given.source.address, given.source.ref, given.path) == (
        "https://github.com/acme/skills",
        "main",
        "a/b c",
    )
    given = read_url("https://github.com/acme/skills/blob/main/a/SKILL.md", None, local=False)
    assert (given.source.kind, given.path) == ("git", "a")


def test_sources_are_refused_that_git_would_read_as_something_else(tmp_path):
    for make in (
        lambda: toolkits.git("Bad Name", "https://example.com/x"),
        lambda: toolkits.git("x", "ext::sh -c id"),
        lambda: toolkits.git("x", "--upload-pack=id"),
        lambda: toolkits.git("x", "https://u:p@example.com/x"),
        lambda: toolkits.git("x", "https://example.com/x", "--exec=id"),
        lambda: toolkits.skills(
            tmp_path, sources=[toolkits.directory("a", "."), toolkits.directory("a", "..")]
        ),
    ):
        with pytest.raises(packbelt.WorkspaceError):
            make()


def test_the_shipped_packs_take_the_tools_as_their_handlers(tmp_path, acme):
    tools = [*toolkits.skills(tmp_path), *toolkits.shell(tmp_path)]
    shipped = packbelt.load(embedded_root())
    workspace = packbelt.load(shipped.root, tools=tools)
    by_name = {tool.name: tool for tool in workspace.tools}
    for function in tools:
        name = function.__name__
        assert workspace.handlers[name] == function
        assert by_name[name].digest == {tool.name: tool for tool in shipped.tools}[name].digest
        parameters = set(function.__annotations__) - {"return"}
        assert parameters == set(by_name[name].input_schema.get("properties", {})), name
    handled = {tool.__name__ for tool in tools} - {"shell"}
    pack = workspace.packs["skills"]
    assert (
        set(pack.members) - {"run_skill", "setup_skills", "create_skill"} == handled
    )  # the rest are hand-offs


def test_an_agent_installs_a_skill_through_its_belt_and_the_fleet_learns_of_it(tmp_path, acme):
    root = tmp_path / "fleet"
    write(
        root,
        {
            "packbelt.yaml": "orchestrator: boss\n",
            "prompts/agents/boss.md": "---\nname: boss\ndescription: Works.\ntools: ['*']\npermission: execute\n---\nWork. {{ sections.installed_skills }}\n",
        },
    )
    fleets = []

    async def changed():
        await fleets[0].reload()

    tools = toolkits.skills(
        root, sources=[toolkits.git("acme", str(acme[0]))], cache=tmp_path / "c", changed=changed
    )

    async def main():
        workspace = packbelt.load(root, tools=[*tools, *toolkits.shell(root)])
        async with (
            packbelt.open(workspace, runs=":memory:", trust=True) as fleet,
            fleet.agent("boss") as agent,
        ):
            fleets.append(fleet)
            turn = await agent.turn()
            results = await turn.run([ToolCall("1", "skill_registry_install", {"id": "benchmark"})])
            assert json.loads(results[0].text)["name"] == "benchmark"
            assert [skill.name for skill in fleet.workspace.skills] == ["benchmark"]
            turn = await agent.turn()
            run = {"command": "./scripts/run.sh 7", "cwd": "skills/benchmark"}
            results = await turn.run([ToolCall("2", "shell", run)])
            assert json.loads(results[0].text) == {"exit_code": 0, "stdout": "ran 7\n", "stderr": ""}
            refused = await turn.run([ToolCall("3", "skill_registry_install", {"id": "benchmark"})])
            assert "is installed already; pass overwrite to replace it" in refused[0].text

    anyio.run(main)


def test_a_host_that_cannot_take_a_change_over_is_told_of_and_the_change_stays(tmp_path, acme):
    async def changed():
        raise packbelt.WorkspaceError("a pack is broken")

    world = World(tmp_path, toolkits.git("acme", str(acme[0])), changed=changed)
    assert world("skill_registry_install", id="code-review")["not_taken_over"] == "a pack is broken"
    assert world("skill_registry_uninstall", name="code-review")["not_taken_over"] == "a pack is broken"
    assert world.left() == []
