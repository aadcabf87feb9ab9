"""Bug cases of class SK, and what else an archive, a repository or a folder may hold."""

import os
import socket
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from skill_world import World, commit, git, make_tar, make_zip, member, repository, skill_text, write

import packbelt
from packbelt import toolkits
from packbelt.toolkits.bundle import open_folder
from packbelt.toolkits.found import files_of
from packbelt.toolkits.place import Place, Record

PDF = skill_text("pdf").encode()
SMALL = toolkits.Limits(skill_files=5, skill_bytes=4000, file_bytes=2000, entries=30, source_bytes=60_000)


def refused(world, match, **arguments):
    """The skill `pdf` is refused, and nothing of it is anywhere."""
    before = world.left()
    with pytest.raises(toolkits.ToolkitError, match=match):
        world("skill_registry_install", id="pdf", **arguments)
    assert world.left() == before
    assert world.fetched() == []
    assert sorted(path.name for path in world.root.parent.iterdir() if path.name.startswith("evil")) == []


HOSTILE = ["../../evil", "/evil", "pdf/../../../evil", "pdf/..", "..\\..\\evil", "C:\\evil", "C:evil",
           "\\\\host\\share\\evil", "pdf/evil\x07", "pdf//evil", "pdf/./evil", "pdf/evil\u202egpj"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_sk01_sk04_a_path_that_leads_out_condemns_the_archive(tmp_path, name):
    for path in (
        make_tar(tmp_path / "a.tgz", member("pdf/SKILL.md", PDF), member(name, b"x")),
        make_zip(tmp_path / "a.zip", ("pdf/SKILL.md", PDF), (name, b"x")),
    ):
        world = World(tmp_path, toolkits.archive("a", path))
        refused(world, "nothing of it was installed", source="a")
        refused(world, "no source has a skill 'pdf' .*nothing of it was installed")


def test_sk04_a_nul_in_a_zips_name_is_seen(tmp_path):
    path = make_zip(tmp_path / "a.zip", ("pdf/SKILL.md", PDF), ("pdf/safe_txt_sh", b"x"))
    path.write_bytes(path.read_bytes().replace(b"safe_txt_sh", b"safe_txt\0sh"))
    refused(World(tmp_path, toolkits.archive("a", path)), r"safe_txt\\x00sh' holds a control", source="a")


@pytest.mark.parametrize(
    "name", ["../../evil", "..", ".", '""', "Evil Skill", "evil--x", "-evil", "e" * 65, "a/b", "a\\b"]
)
def test_sk05_a_name_is_held_against_its_pattern_before_any_path_is_made(tmp_path, name):
    write(tmp_path / "src", {"pdf/SKILL.md": f"---\nname: {name}\ndescription: Text.\n---\n"})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    refused(world, "no source has a skill 'pdf' ")
    assert not world.skills.exists()
    (row,) = world("skill_registry_sources")["sources"]
    assert (row["skills"], row["broken_count"]) == (0, 1)


def test_sk05_the_folder_is_named_as_the_skill(tmp_path):
    write(tmp_path / "src", {"other/SKILL.md": PDF})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    world("skill_registry_install", id="pdf")
    assert packbelt.load(world.root).diagnostics == ()


LINKS = [
    member("pdf/l", kind=tarfile.SYMTYPE, link="../secret"),
    member("pdf/l", kind=tarfile.SYMTYPE, link="/etc/passwd"),
    member("pdf/l", kind=tarfile.SYMTYPE, link="../../../etc/passwd"),
    member("pdf/l", kind=tarfile.SYMTYPE, link="nothing"),
    member("pdf/l", kind=tarfile.SYMTYPE, link="l"),
    member("pdf/l", kind=tarfile.SYMTYPE, link="."),
    member("pdf/l", kind=tarfile.LNKTYPE, link="secret"),
    member("pdf/l", kind=tarfile.LNKTYPE, link="/etc/passwd"),
    member("pdf/l", kind=tarfile.LNKTYPE, link="../../etc/passwd"),
]


@pytest.mark.parametrize("link", LINKS, ids=lambda each: f"{each[0].type.decode()}-{each[0].linkname}")
def test_links_out_of_the_skill_are_refused(tmp_path, link):
    path = make_tar(tmp_path / "a.tgz", member("secret", b"s"), member("pdf/SKILL.md", PDF), link)
    refused(World(tmp_path, toolkits.archive("a", path)), "'l' is a link", source="a")


def test_a_link_then_a_file_through_it_writes_nothing_outside(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    path = make_tar(
        tmp_path / "a.tgz",
        member("pdf/SKILL.md", PDF),
        member("pdf/d", kind=tarfile.SYMTYPE, link=str(outside)),
        member("pdf/d/evil", b"x"),
    )
    refused(World(tmp_path, toolkits.archive("a", path)), "link", source="a")
    assert list(outside.iterdir()) == []


def test_a_link_to_a_file_of_the_skill_becomes_a_copy(tmp_path):
    path = make_tar(
        tmp_path / "a.tgz",
        member("pdf/SKILL.md", PDF),
        member("pdf/x/s", kind=tarfile.SYMTYPE, link="../SKILL.md"),
        member("pdf/h", kind=tarfile.LNKTYPE, link="pdf/SKILL.md"),
    )
    world = World(tmp_path, toolkits.archive("a", path))
    world("skill_registry_install", id="pdf")
    for name in ("x/s", "h"):
        placed = world.skills / "pdf" / name
        assert placed.read_bytes() == PDF
        assert not placed.is_symlink()
        assert placed.stat().st_nlink == 1


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(tmp_path, kind):
    path = make_tar(tmp_path / "a.tgz", member("pdf/SKILL.md", PDF), member("pdf/dev", kind=kind))
    refused(World(tmp_path, toolkits.archive("a", path)), "'dev' is a device", source="a")


def test_zips_have_links_and_devices_too(tmp_path):
    for mode, data, match in (
        (0o120777, b"/etc/passwd", "'x' is a link"),
        (0o010644, b"", "'x' is a device"),
    ):
        path = make_zip(tmp_path / "a.zip", ("pdf/SKILL.md", PDF), ("pdf/x", data, mode))
        refused(World(tmp_path, toolkits.archive("a", path)), match, source="a")


def test_a_folder_with_links_pipes_and_sockets_is_not_followed_or_waited_for(tmp_path):
    source = tmp_path / "src"
    write(tmp_path, {"secret/key": "s", "secret/skill/SKILL.md": skill_text("stolen")})
    for name in ("a", "b", "c", "d"):
        write(source, {f"{name}/SKILL.md": skill_text(name)})
    (source / "a" / "x").symlink_to(tmp_path / "secret" / "key")
    os.mkfifo(source / "b" / "x")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(source / "c")  # the path of a socket is short
        try:
            bound.bind("x")
        finally:
            os.chdir(here)
    (source / "d" / "x").symlink_to(tmp_path / "secret")
    (source / "linked").symlink_to(tmp_path / "secret" / "skill")
    world = World(tmp_path, toolkits.directory("d", source))
    assert world("skill_registry_search", query="stolen")["skills"] == []
    for name in ("a", "b", "c", "d"):
        with pytest.raises(toolkits.ToolkitError, match="'x' is a"):
            world("skill_registry_install", id=name)
    assert world.left() == []


def test_a_repositorys_links_cost_the_skill_that_holds_them_and_no_other(tmp_path):
    folder = tmp_path / "repo"
    repository(folder, {"pdf/SKILL.md": PDF, "good/SKILL.md": skill_text("good"), "AGENTS.md": "x"})
    (folder / "CLAUDE.md").symlink_to("/etc/passwd")
    (folder / "pdf" / "l").symlink_to("/etc/passwd")
    write(folder, {"good/a\\b": "odd", "fine/SKILL.md": skill_text("fine")})
    commit(folder)
    world = World(tmp_path, toolkits.git("r", str(folder)))
    refused(world, "'l' is a link that leads out")
    with pytest.raises(toolkits.ToolkitError, match="holds a "):
        world("skill_registry_install", id="good")
    world("skill_registry_install", id="fine")


def test_a_submodule_is_an_empty_folder(tmp_path):
    other, folder = tmp_path / "other", tmp_path / "repo"
    repository(other, {"SKILL.md": skill_text("other")})
    repository(folder, {"pdf/SKILL.md": PDF})
    git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "pdf/sub")
    commit(folder)
    world = World(tmp_path, toolkits.git("r", str(folder)))
    assert world("skill_registry_install", id="pdf")["files"] == ["SKILL.md"]


def test_sk19_the_same_limits_hold_for_every_kind_of_source(tmp_path):
    cases = {
        "more than 5 files": {f"pdf/{i}": b"x" for i in range(6)},
        "more than 4,000 bytes": {f"pdf/{i}": os.urandom(1900) for i in range(3)},
        "'big' has more than 2,000 bytes": {"pdf/big": os.urandom(2001)},
        "more than 30 entries": {f"e/{i}": b"x" for i in range(31)},
    }
    for number, (match, more) in enumerate(cases.items()):
        files = {"pdf/SKILL.md": PDF, **more}
        here = tmp_path / str(number)
        repository(here / "repo", files)
        write(here / "dir", files)
        for source in (
            toolkits.git("s", str(here / "repo")),
            toolkits.directory("s", here / "dir"),
            toolkits.archive(
                "s", make_tar(here / "a.tgz", *(member(name, data) for name, data in files.items()))
            ),
            toolkits.archive("s", make_zip(here / "a.zip", *files.items())),
        ):
            refused(World(here, source, limits=SMALL), match, source="s")


def test_bombs_are_ended_while_they_unpack(tmp_path):
    zeros = bytes(1 << 20)
    repository(tmp_path / "repo", {"pdf/SKILL.md": PDF, "pdf/zeros": zeros})
    packed = make_tar(tmp_path / "a.tgz", member("pdf/SKILL.md", PDF), member("pdf/zeros", zeros))
    assert packed.stat().st_size < SMALL.source_bytes
    refused(
        World(tmp_path, toolkits.archive("s", packed), limits=SMALL), "more than 60,000 bytes", source="s"
    )
    refused(
        World(tmp_path, toolkits.git("s", str(tmp_path / "repo")), limits=SMALL),
        "more than 60,000",
        source="s",
    )


def test_a_zip_that_lies_about_a_size_is_not_believed(tmp_path):
    path = make_zip(tmp_path / "a.zip", ("pdf/SKILL.md", PDF), ("pdf/zeros", bytes(1 << 20)))
    size = struct.pack("<L", 1 << 20)
    assert path.read_bytes().count(size) == 2
    path.write_bytes(path.read_bytes().replace(size, struct.pack("<L", 100)))
    refused(World(tmp_path, toolkits.archive("a", path), limits=SMALL), "broken|more bytes", source="a")


def test_a_file_that_grows_after_it_was_listed_is_not_taken(tmp_path):
    write(tmp_path / "src", {"pdf/SKILL.md": PDF, "pdf/log": b"x"})
    place = Place(tmp_path / "workspace")
    with open_folder(tmp_path / "src", SMALL) as folder:
        files = files_of(folder, "pdf", SMALL)
        (tmp_path / "src" / "pdf" / "log").write_bytes(bytes(2001))
        with pytest.raises(toolkits.ToolkitError, match="'log' has more bytes than its source says"):
            place.put(Record("pdf", "registry", "d", "pdf", ""), files, folder, SMALL, overwrite=False)
    assert [path.name for path in place.path.iterdir()] == [".packbelt.lock"]


def test_broken_and_encrypted_archives_and_paths_that_stand_twice(tmp_path):
    whole = make_tar(tmp_path / "whole.tgz", member("pdf/SKILL.md", PDF), member("pdf/x", os.urandom(5000)))
    half = tmp_path / "half.tgz"
    half.write_bytes(whole.read_bytes()[:2500])
    refused(World(tmp_path, toolkits.archive("a", half)), "broken", source="a")

    twice = make_tar(
        tmp_path / "t.tgz", member("pdf/SKILL.md", PDF), member("pdf/x", b"1"), member("pdf/x", b"2")
    )
    refused(World(tmp_path, toolkits.archive("a", twice)), "'x' stands in the archive twice", source="a")

    for one, other in (("Readme", "README"), ("caf\u00e9", "cafe\u0301"), ("x", "x/y")):
        path = make_zip(
            tmp_path / "c.zip", ("pdf/SKILL.md", PDF), (f"pdf/{one}", b"1"), (f"pdf/{other}", b"2")
        )
        refused(
            World(tmp_path, toolkits.archive("a", path)), "one name on some systems|lies in it", source="a"
        )

    secret = make_zip(tmp_path / "e.zip", ("pdf/SKILL.md", PDF), ("pdf/x", b"1"))
    data = bytearray(secret.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    secret.write_bytes(data)
    with zipfile.ZipFile(secret) as packed, pytest.raises(RuntimeError, match="encrypted"):
        packed.read("pdf/x")
    refused(World(tmp_path, toolkits.archive("a", secret)), "'x' is encrypted", source="a")


def test_a_source_cannot_forge_where_a_skill_came_from(tmp_path):
    forged = '{"name": "pdf", "origin": "address", "source": "x", "path": "", "version": ""}'
    write(tmp_path / "src", {"pdf/SKILL.md": PDF, "pdf/.packbelt.json": forged, "pdf/.git/config": "x"})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    assert world("skill_registry_install", id="pdf")["files"] == ["SKILL.md"]
    assert world("skill_registry_uninstall", name="pdf") == {"removed": "pdf", "source": "d"}


def test_sk26_a_name_that_a_model_would_confuse_is_taken(tmp_path):
    write(tmp_path / "src", {"create-plan/SKILL.md": skill_text("create-plan")})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    for folder in ("skills/create_plan", ".claude/skills/create-plan"):
        write(world.root, {f"{folder}/SKILL.md": skill_text("create_plan")})
        with pytest.raises(toolkits.ToolkitError, match=f"{folder} has a skill of that name"):
            world("skill_registry_install", id="create-plan", overwrite=True)
        (world.root / folder).rename(world.root / "away")
        (world.root / "away" / "SKILL.md").unlink()
        (world.root / "away").rmdir()


def test_what_a_person_wrote_is_never_replaced_or_removed(tmp_path):
    write(tmp_path / "src", {"pdf/SKILL.md": PDF})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    write(world.root, {"skills/pdf/SKILL.md": skill_text("pdf", "By hand.")})
    refused(world, "came from no registry", overwrite=True)
    with pytest.raises(toolkits.ToolkitError, match="came from no registry"):
        world("skill_registry_uninstall", name="pdf")
    assert "By hand." in (world.skills / "pdf" / "SKILL.md").read_text()


def test_sk08_links_in_the_skills_folder_are_not_written_through(tmp_path):
    write(tmp_path / "src", {"pdf/SKILL.md": PDF})
    world = World(tmp_path, toolkits.directory("d", tmp_path / "src"))
    own = tmp_path / "own"
    write(own, {"SKILL.md": skill_text("pdf", "Own.")})
    world.skills.mkdir()
    (world.skills / "pdf").symlink_to(own)
    refused(world, "came from no registry", overwrite=True)
    with pytest.raises(toolkits.ToolkitError, match="link that leads out"):
        world("read_workflow_resource", name="pdf")
    with pytest.raises(toolkits.ToolkitError, match="link that leads out"):
        world("skill_registry_uninstall", name="pdf")
    assert (own / "SKILL.md").exists()
    (world.skills / "pdf").unlink()
    for path in world.skills.iterdir():
        path.unlink()
    world.skills.rmdir()
    world.skills.symlink_to(own)
    with pytest.raises(toolkits.ToolkitError, match="skills is a link that leads out"):
        world("skill_registry_install", id="pdf")
    assert sorted(path.name for path in own.iterdir()) == ["SKILL.md"]
