"""Tokens: where they come from, what is refused, and that no text holds one."""

import os
import secrets
import stat
import traceback

import pytest

from packbelt.gateway import tokens
from packbelt.gateway.tokens import BearerTokenError, Tokens

CANARY = "canary-0123456789abcdef"
OTHER = "another-0123456789abcdef"


def of(text):
    return Tokens.of_environment({tokens.VARIABLE: text})


def test_a_token_is_its_agents():
    found = of(f" lead = {CANARY} ,worker={OTHER}==")
    assert found.agents == ("lead", "worker")
    assert (found.owner(CANARY), found.owner(OTHER + "=="), found.owner(OTHER)) == ("lead", "worker", None)
    assert found.of(["worker", "nobody"]).agents == ("worker",)
    assert of("") is of(" ") is None


def test_all_tokens_are_compared_in_constant_time(monkeypatch):
    found = of(f"lead={CANARY},worker={OTHER}")
    compared = []
    compare = secrets.compare_digest

    def watched(left, right):
        compared.append((left, right))
        return compare(left, right)

    monkeypatch.setattr(tokens.secrets, "compare_digest", watched)
    for presented in (CANARY, OTHER, "wrong", ""):
        compared.clear()
        found.owner(presented)
        assert len(compared) == 2
        assert all(len(left) == len(right) for left, right in compared)


def test_a_key_is_one_agents_and_the_same_in_every_process():
    one, other = of(f"lead={CANARY},worker={OTHER}"), of(f"lead={CANARY}")
    assert one.key("lead") == other.key("lead") != one.key("worker")
    assert CANARY.encode() not in one.key("lead")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"lead={CANARY},{OTHER}", "entry 2: it is not agent=token"),
        (f"={CANARY}", "entry 1: it is not agent=token"),
        ("lead=canary", "no bearer token of at least 16 letters"),
        (f"lead={CANARY} {OTHER}", "no bearer token"),
        (f"lead={CANARY},worker={CANARY}", "'lead' and 'worker' have the same token"),
        (f"lead={CANARY},lead={OTHER}", "'lead' has a second token"),
        (f"lead={CANARY},", "entry 2: it is not agent=token"),
    ],
)
def test_en12_what_is_no_token_is_refused_without_being_shown(text, said):
    with pytest.raises(BearerTokenError, match=said) as caught:
        of(text)
    assert "canary-" not in "".join(traceback.format_exception(caught.value))
    assert "another-" not in str(caught.value)


def test_nothing_prints_one():
    found = of(f"lead={CANARY}")
    assert "canary" not in repr(found) + str(found)


def test_a_file_is_made_for_its_owner_alone(tmp_path):
    file = tmp_path / "tokens"
    mask = os.umask(0)
    try:
        made = Tokens.of_file(file, ["lead", "worker"])
    finally:
        os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made.made == made.agents == ("lead", "worker")
    read = Tokens.of_file(file, ["unasked"])
    assert (read.digests, read.made) == (made.digests, ())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o601])
def test_a_file_that_others_can_open_is_refused(tmp_path, mode):
    file = tmp_path / "tokens"
    file.write_text(f"lead={CANARY}\n")
    file.chmod(mode)
    with pytest.raises(BearerTokenError, match=f"chmod 600 {file}"):
        Tokens.of_file(file, ())


def test_a_file_may_have_comments_and_empty_lines(tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"# mine\n\n  # indented\nlead={CANARY}\n")
    file.chmod(0o600)
    assert Tokens.of_file(file, ()).owner(CANARY) == "lead"


def test_a_file_that_cannot_be_used_says_so(tmp_path):
    with pytest.raises(BearerTokenError, match="cannot be read"):
        Tokens.of_file(tmp_path, ())
    with pytest.raises(BearerTokenError, match="cannot be made"):
        Tokens.of_file(tmp_path / "none/tokens", ["lead"])
    file = tmp_path / "tokens"
    file.write_text("lead\n")
    file.chmod(0o600)
    with pytest.raises(BearerTokenError, match="line 1: it is not agent=token"):
        Tokens.of_file(file, ())
