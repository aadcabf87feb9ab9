"""What looks like a secret, wherever it stands in a server's entry, is not copied; what is none stays."""

import json
import random
import string

import pytest
from home_world import write_all

from packbelt.importers import Kind, Outcome, gather
from packbelt.importers.secrets import masked, secrets_of

PLAIN = "hunter2short"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456"


def entry_of(tmp_path, entry, name=".mcp.json", key="mcpServers"):
    found = gather(write_all(tmp_path / "p", {name: {key: {"s": entry}}}), tmp_path / "t")
    text = found.files.get(".mcp.json")
    return found, json.loads(text)["mcpServers"]["s"] if text else None


ARGUMENTS = {
    "json": (f'{{"exaApiKey":"{PLAIN}"}}', '{"exaApiKey":"${S_EXAAPIKEY}"}'),
    "quoted_json": (f'"{{\\"exaApiKey\\":\\"{PLAIN}\\"}}"', '"{\\"exaApiKey\\":\\"${S_EXAAPIKEY}\\"}"'),
    "flag_with_a_variable": (f"--env=API_KEY={PLAIN}", "--env=API_KEY=${S_API_KEY}"),
    "flag_with_a_header": (f"--header=x-api-key: {PLAIN}", "--header=x-api-key: ${S_X_API_KEY}"),
    "command_line": (f"npx foo --api-key {PLAIN} --fast", "npx foo --api-key ${S_API_KEY} --fast"),
    "exported": (f"export TOKEN={PLAIN}; npx foo", "export TOKEN=${S_TOKEN}; npx foo"),
    "jdbc": (
        f"jdbc:sqlserver://h:1;user=sa;password={PLAIN}",
        "jdbc:sqlserver://h:1;user=sa;password=${S_PASSWORD}",
    ),
    "libpq": (f"host=x password={PLAIN}", "host=x password=${S_PASSWORD}"),
    "beside_a_reference": (f"--token={PLAIN}${{X}}", "--token=${S_TOKEN}${X}"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_an_argument_with_a_secret_inside_keeps_the_rest(tmp_path, case):
    before, after = ARGUMENTS[case]
    _, entry = entry_of(tmp_path, {"command": "x", "args": [before]})
    assert entry["args"] == [after]


URLS = {
    "user_alone": (
        "https://abcdefghij0123456789klmn@host.example/mcp",
        "https://${S_URL_KEY}@host.example/mcp",
    ),
    "token_in_the_path": (f"https://host.example/s/{JWT}/mcp", "https://host.example/s/${S_URL_KEY}/mcp"),
    "short_key_in_the_path": (
        "https://host.example/sk-abcdef1234567/mcp",
        "https://host.example/${S_URL_KEY}/mcp",
    ),
    "fragment": (
        f"https://host.example/mcp#access_token={PLAIN}",
        "https://host.example/mcp#access_token=${S_ACCESS_TOKEN}",
    ),
    "unescaped_password": (
        "https://me:p@ss/w0rd@host.example/mcp",
        "https://me:${S_PASSWORD}@host.example/mcp",
    ),
    "secret_host": (
        "https://eo3x1k2m4n5p6q7r8s9t.m.host.example/",
        "https://${S_URL_KEY}.m.host.example/",
    ),
}


@pytest.mark.parametrize("case", URLS)
def test_an_address_with_a_secret_in_it_keeps_the_rest(tmp_path, case):
    before, after = URLS[case]
    _, entry = entry_of(tmp_path, {"url": before})
    assert entry["url"] == after


@pytest.mark.parametrize(
    "url",
    [
        "https://host.example:8080/path/@scope/pkg",
        "https://host.example/mcp?mode=read&limit=20&team=blue",
        "https://user@host.example/mcp",
        "http://localhost:3000/api/mcp/v2024-11-05",
    ],
)
def test_an_address_without_a_secret_stays(tmp_path, url):
    _, entry = entry_of(tmp_path, {"url": url})
    assert entry["url"] == url


def test_values_under_odd_names_numbers_and_mixtures_are_not_copied(tmp_path):
    env = {
        "DB": f"Server=x;Password={PLAIN};",
        "API_KEY": "sk-live-abcdefgh1234${X}",
        "NUM_KEY": 123456789012,
        "PASSWORD": "123456",
        "AWS_SK": "wJal3XUtn5EMI/K7MDENG9bPxRfiCY2zq8Lm4Tx6Vd",
        "H": f'{{"X-API-Key":"{PLAIN}"}}',
    }
    _, entry = entry_of(tmp_path, {"command": "x", "env": env})
    assert entry["env"] == {
        "DB": "${DB}",
        "API_KEY": "${S_API_KEY}${X}",
        "NUM_KEY": "${NUM_KEY}",
        "PASSWORD": "${PASSWORD}",
        "AWS_SK": "${AWS_SK}",
        "H": "${H}",
    }


def test_what_is_none_stays_as_it_was(tmp_path):
    env = {"LOG": "info", "PORT": 8080, "MAX_TOKENS": 4096, "TOKEN_LIMIT": "4096", "ROOT": "/srv/data-2024"}
    args = ["-y", "@scope/server-filesystem@2024.11.5", "--mode", "stdio", "./dist/index.js", "--port=3000"]
    _, entry = entry_of(tmp_path, {"command": "npx", "args": args, "env": env})
    assert entry == {"command": "npx", "args": args, "env": env}


def test_a_secret_in_the_command_is_refused_where_no_variable_is_filled_in(tmp_path):
    found, entry = entry_of(tmp_path, {"command": f"npx foo --token={PLAIN}"})
    assert entry is None
    (item,) = found.report.items
    assert item.outcome is Outcome.REFUSED
    assert PLAIN not in item.remarks[0].message
    assert "`env`" in item.remarks[0].mend


def test_a_secret_where_the_name_of_a_variable_should_be_is_not_written(tmp_path):
    token = "ghp_abcdefghijklmnopqrstuvwx1234"
    text = f'[mcp_servers.s]\nurl = "https://x.example/mcp"\nbearer_token_env_var = "{token}"\n'
    found = gather(write_all(tmp_path / "a", {".codex/config.toml": text}), tmp_path / "t")
    assert token not in found.files[".mcp.json"]
    assert list(found.report.variables) == ["S_TOKEN"]
    found, entry = entry_of(tmp_path, {"command": "x", "env": {"A": f"${{{token}}}"}})
    assert entry["env"] == {"A": "${S_TOKEN}"}


def test_the_default_of_a_variable_is_judged_in_geminis_files_too(tmp_path):
    entry = {"command": "x", "env": {"API_KEY": "${API_KEY:-sk-gemsecret12345678}", "MODE": "${MODE:-ro}"}}
    _, entry = entry_of(tmp_path, entry, ".gemini/settings.json")
    assert entry["env"] == {"API_KEY": "${API_KEY}", "MODE": "${MODE:-ro}"}


def test_no_name_that_a_file_uses_for_its_own_variable_stands_for_another_servers_secret(tmp_path):
    servers = {
        "a": {"command": "x", "env": {"GITHUB_TOKEN": PLAIN}},
        "b": {"command": "y", "env": {"TOKEN": "${GITHUB_TOKEN}"}},
    }
    found = gather(write_all(tmp_path / "p", {".mcp.json": {"mcpServers": servers}}), tmp_path / "t")
    written = json.loads(found.files[".mcp.json"])["mcpServers"]
    assert written["b"]["env"] == {"TOKEN": "${GITHUB_TOKEN}"}
    assert written["a"]["env"] == {"GITHUB_TOKEN": "${A_GITHUB_TOKEN}"}
    assert found.report.variables == {"A_GITHUB_TOKEN": ("a",), "GITHUB_TOKEN": ("b",)}
    a = next(item for item in found.report.items if item.name == "a")
    assert "A_GITHUB_TOKEN" in a.remarks[0].message


def test_a_rule_with_a_secret_in_it_is_reported_without(tmp_path):
    rules = {"allow": [f"Bash(PGPASSWORD={PLAIN} psql:*)"], "deny": [f"Bash(curl -H 'X-Api-Key: {PLAIN}':*)"]}
    files = {".claude/settings.json": {"permissions": rules}}
    report = gather(write_all(tmp_path / "p", files), tmp_path / "t").report
    assert [item.kind for item in report.items] == [Kind.RULE, Kind.RULE]
    assert PLAIN not in repr(report)
    assert masked(rules["allow"][0]) == "Bash(PGPASSWORD=*** psql:*)"


def test_spans_lie_apart_in_order_and_inside_whatever_the_text_is():
    letters = random.Random(7)
    parts = [
        *"{}\"'=:;/@?#& -",
        "\\",
        "${X}",
        "://",
        "token",
        "--key",
        "Bearer ",
        PLAIN,
        JWT,
        "\n",
        "a1" * 12,
    ]
    for _ in range(3000):
        text = "".join(letters.choices(parts, k=letters.randint(1, 14)))
        spans = secrets_of(text, letters.choice(["", "API_KEY", "LOG"]))
        ends = [0]
        for span in spans:
            assert ends[-1] <= span.start < span.end <= len(text)
            ends.append(span.end)


@pytest.mark.parametrize(
    "unit", ["${A:-", "://a:", "a@", "a=", '\\"', "--a ", "eyJ", "Bearer ", "a1b2", '{"a":']
)
def test_a_huge_text_is_judged_in_one_go(unit):
    # With time in the square of its length this would take minutes, and the test would be cut off.
    text = (unit * (200_000 // len(unit) + 1))[:200_000]
    assert all(span.end <= len(text) for span in secrets_of(text, "LOG"))


def test_random_tokens_never_come_through_under_any_name(tmp_path):
    letters = random.Random(11)
    tokens = ["".join(letters.choices(string.ascii_letters + string.digits, k=40)) for _ in range(60)]
    tokens = [one for one in tokens if sum(c.isdigit() for c in one) >= 3]
    places = [
        lambda t: {"command": "x", "env": {"ODD": t}},
        lambda t: {"command": "x", "args": ["run", t]},
        lambda t: {"command": "x", "args": [f"--anything={t}"]},
        lambda t: {"command": "x", "args": ["-c", f"run '{t}' now"]},
        lambda t: {"url": f"https://x.example/a/{t}/mcp"},
        lambda t: {"url": f"https://x.example/mcp?q={t}"},
        lambda t: {"url": "https://x.example/mcp", "headers": {"X-Odd": t}},
    ]
    servers = {f"s{i}": places[i % len(places)](token) for i, token in enumerate(tokens)}
    found = gather(write_all(tmp_path / "p", {".mcp.json": {"mcpServers": servers}}), tmp_path / "t")
    assert len(json.loads(found.files[".mcp.json"])["mcpServers"]) == len(tokens)
    assert not [one for one in tokens if one in found.files[".mcp.json"] or one in repr(found.report)]
