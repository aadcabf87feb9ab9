import copy
import json
import pickle
import traceback
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packbelt.catalog.workspace import ServerSpec
from packbelt.live.environment import PlaceholderError, resolve
from packbelt.live.secret import Environ, Secret
from packbelt.model import Where

WHERE = Where(".mcp.json", 4)


def stdio(**fields):
    return ServerSpec("s", "stdio", command=fields.pop("command", "run"), where=WHERE, **fields)


def http(url="https://example.com/mcp", **headers):
    return ServerSpec("s", "http", url=url, headers=headers, where=WHERE)


def value(text, **environ):
    return resolve(stdio(env={"V": text}), environ).env["V"].reveal()


def refusal(spec, **environ):
    with pytest.raises(PlaceholderError) as raised:
        resolve(spec, environ)
    assert "'s'" in str(raised.value)
    assert raised.value.where == WHERE
    assert raised.value.mend
    return raised.value


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}", "one"),
        ("<${A}${A}>", "<oneone>"),
        ("${A:-other}", "one"),
        ("${NONE:-other}", "other"),
        ("${EMPTY:-other}", "other"),
        ("${NONE:-}", ""),
        ("${NONE:-a:-b $x}", "a:-b $x"),
        ("${EMPTY}", ""),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
        ("$A $$ $ {A} }", "$A $$ $ {A} }"),
        ("${NESTED}", "${A}"),
        ("", ""),
    ],
)
def test_what_a_placeholder_becomes(text, result):
    assert value(text, A="one", EMPTY="", NESTED="${A}") == result


@pytest.mark.parametrize(
    "text", ["${", "${A", "${}", "${1A}", "${a-b}", "${A:+x}", "${A${A}}", "${A:-${A}}", "${A }"]
)
def test_a_malformed_placeholder_is_refused_and_not_repeated(text):
    error = refusal(stdio(env={"V": "sk-live-123" + text}), A="one")
    assert "env.V" in str(error)
    assert "sk-live" not in str(error)


@given(st.text(alphabet="ab$ {}:-A1", max_size=12), st.text(alphabet="xyz", max_size=3))
def test_text_without_a_placeholder_is_itself_and_no_placeholder_survives(text, a):
    try:
        result = value(text, A=a, a=a, b=a)
    except PlaceholderError:
        assert "${" in text
        return
    if "${" not in text:
        assert result == text
    elif "$${" not in text:
        assert "${" not in result


def test_en03_an_unset_variable_stops_the_start_and_an_empty_one_is_another_case():
    error = refusal(http(Authorization="Bearer ${TOK}"))
    assert "${TOK}" in error.problem
    assert "not set" in error.problem
    assert error.name == "s"
    assert "is empty" in refusal(http(Authorization="Bearer ${TOK}"), TOK="").problem
    assert value("${TOK}", TOK="") == ""


@pytest.mark.parametrize("field", ["env", "args", "url", "headers"])
def test_every_field_that_expands_names_itself_and_the_variable(field):
    spec = {
        "env": stdio(env={"V": "${NONE}"}),
        "args": stdio(args=("a", "${NONE}")),
        "url": http("https://example.com/${NONE}"),
        "headers": http(V="${NONE}"),
    }[field]
    label = {"env": "env.V", "args": "args[1]", "url": "url", "headers": "headers.V"}[field]
    assert refusal(spec).problem == f"server 's': {label} needs ${{NONE}}, and that variable is not set"


@pytest.mark.parametrize(
    "spec",
    [
        stdio(command="${A}/bin/run"),
        stdio(cwd="${A}"),
        stdio(command="$${A}"),
        stdio(env={"${A}": "1"}),
        http(**{"X-${A}": "1"}),
    ],
    ids=["command", "cwd", "escaped", "name in env", "name in headers"],
)
def test_en18_a_field_that_does_not_expand_is_refused(spec):
    assert "not a field that expands" in refusal(spec, A="one").problem


def test_en18_all_fields_that_expand_do_in_both_transports():
    environ = {"A": "one"}
    local = resolve(stdio(args=("${A}",), env={"V": "${A}"}), environ)
    assert (local.args[0].reveal(), local.env["V"].reveal()) == ("one", "one")
    remote = resolve(http("https://example.com/${A}", V="${A}"), environ)
    assert (remote.url.reveal(), remote.headers["V"].reveal()) == ("https://example.com/one", "one")


@pytest.mark.parametrize(
    "text",
    ["Bearer ${TOK}", "${TOK}", "Bearer ${NONE:-}", "session=${TOK}", "Bearer", "bearer ", "", "Basic  "],
)
def test_en14_an_empty_credential_is_refused(text):
    assert "headers.Authorization" in refusal(http(Authorization=text), TOK="").problem


def test_en14_a_credential_of_one_word_is_one():
    assert resolve(http(Authorization="abc123"), {}).headers["Authorization"].reveal() == "abc123"


@pytest.mark.parametrize("bad", ["a\r\nX-Evil: 1", "a\n", "a\0", "\N{SNOWMAN}"])
def test_a_value_that_http_does_not_allow_is_refused_without_showing_it(bad):
    error = refusal(http(V="${BAD}"), BAD="canary" + bad)
    assert "canary" not in str(error)
    assert "headers.V" in error.problem


def test_a_header_name_that_http_does_not_allow_is_refused():
    assert "name" in refusal(http(**{"X Evil": "1"})).problem


CANARY = "canary-5f2c"


def resolved():
    spec = ServerSpec(
        "s",
        "stdio",
        command="run",
        args=("--key=${K}",),
        env={"T": "${K}"},
        url="https://x/${K}",
        headers={"H": "b ${K}"},
    )
    return resolve(spec, {"K": CANARY})


@pytest.mark.parametrize("show", [repr, str, "{}".format, "%s".__mod__, "{!r:>9}".format])
def test_en21_no_print_shows_a_value(show):
    made = resolved()
    everything = [made, made.env, made.args, made.url, made.headers, made.secrets, made.args[0], asdict(made)]
    for thing in everything:
        text = show((thing,)) if show == "%s".__mod__ else show(thing)
        assert CANARY not in text
    assert made.args[0].reveal() == f"--key={CANARY}"
    assert "***" in show(made.url)


def test_en21_json_pickle_and_copies_hold_it_back():
    secret = Secret(CANARY)
    with pytest.raises(TypeError):
        json.dumps({"token": secret})
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert CANARY not in json.dumps({"token": secret}, default=str)
    assert copy.deepcopy(secret) == copy.copy(secret) == secret == Secret(CANARY) != CANARY
    assert len({secret, Secret(CANARY)}) == 1


@pytest.mark.parametrize(
    "spec",
    [
        stdio(env={"A": "${K}", "B": "${NONE}"}),
        http(A="${K}", B="x ${EMPTY}"),
        http(A="${K}", B="${K}${LINE}"),
        stdio(args=("${K}", "${")),
    ],
    ids=["unset", "empty", "line end", "malformed"],
)
def test_en21_a_traceback_with_locals_shows_no_value(spec):
    environ = Environ({"K": CANARY, "EMPTY": "", "LINE": f"{CANARY}\n"})
    with pytest.raises(PlaceholderError) as raised:
        resolve(spec, environ)
    shown = "".join(traceback.TracebackException.from_exception(raised.value, capture_locals=True).format())
    assert "spec = " in shown
    assert CANARY not in shown


def test_masking_takes_placeholder_values_and_long_literals():
    spec = stdio(env={"A": "${K}", "B": "literal-secret", "C": "1", "D": "${SHORT}"})
    made = resolve(spec, {"K": CANARY, "SHORT": "on"})
    assert made.mask(f"{CANARY} literal-secret 1 on") == "*** *** 1 on"
