import json
import logging
import os
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring
from live_helpers import QUICK
from mcp.shared.auth import OAuthToken
from oauth_world import entries, opened, world
from pydantic import AnyHttpUrl
from test_http import address, serving

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.live.environment import resolve
from packbelt.live.secret import Secret
from packbelt.live.servers.authority import MAX_ANSWER, Authority, NotAuthorizedError
from packbelt.live.servers.connection import Connection, Settings
from packbelt.live.servers.failure import Witness
from packbelt.live.servers.oauth import OAuth, provider
from packbelt.live.servers.tokens import Account, FileStore, Grant, KeyringStore, TokenError, user_store
from packbelt.model import ServerStatus
from packbelt.model.outcome import Outcome

NEEDED = "needs authorization: run `packbelt connect web` in a terminal"


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "settings" / "tokens.json")


def entry(url, name="web", **headers):
    return ServerSpec(name, "http", url=url, headers=headers)


def run(spec, oauth, root, then=None, *, times=QUICK, environ=None):
    """Connect to a server; its state, and what `then` gives while it is connected."""

    async def main():
        settings = Settings(root, times, environ or {}, anyio.CapacityLimiter(16), oauth=oauth)
        connection = Connection(spec, settings, on_state=lambda _: None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.run)
            with anyio.fail_after(60):
                await connection.settled()
                state = connection.state
                found = await then(connection) if then else None
            connection.stop()
        return state, found

    return anyio.run(main)


async def at_once():
    pass


async def together(connection, count):
    """So many calls at a time."""
    answers = []

    async def call():
        answers.append(await connection.call("together", {"count": count}, dispatching=at_once))

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(call)
    return answers


def nobody(_server, address):
    raise AssertionError(f"asked for {address}")


def changed(store, account, **fields):
    """Change what is kept of an account."""
    store.put(account, store.get(account).model_copy(update=fields))


def account_of(there, root, name="web"):
    return Account(name, root.resolve(), Secret(there.url))


# The first time, and afterwards.


def test_a_person_authorizes_once(store, tmp_path):
    with world() as there:
        first, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
        second, answers = run(
            entry(there.url), OAuth(store, nobody), tmp_path, lambda connection: together(connection, 1)
        )
    assert (first.status, first.error) == (ServerStatus.CONNECTED, "")
    assert (second.status, second.error) == (ServerStatus.CONNECTED, "")
    assert [tool.name for tool in second.tools] == ["together"]
    assert [answer.outcome for answer in answers] == [Outcome.OK]
    assert len(there.asked) == 1
    assert there.authority.seen.count("/register") == there.authority.seen.count("/token") == 1


def test_the_request_is_what_the_specification_asks_for(store, tmp_path):
    with world() as there:
        run(entry(f"{there.url}?key=canary-query"), OAuth(store, there.approve), tmp_path)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(there.asked[0]).query).items()}
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["code_challenge"]) == 43
    assert asked["resource"] == there.url
    back = urlsplit(asked["redirect_uri"])
    assert (back.scheme, back.hostname, back.path) == ("http", "127.0.0.1", "/callback")
    client = next(iter(there.granting.clients.values()))
    assert (client.client_name, client.token_endpoint_auth_method) == ("packbelt", "none")
    assert "canary-query" not in "".join(there.asked + there.authority.bodies)


def test_tokens_and_headers_go_where_they_belong(store, tmp_path):
    with world() as there:
        spec = entry(there.url, **{"X-Api-Key": "canary-header"})
        run(spec, OAuth(store, there.approve), tmp_path)
    at_the_server = list(zip(there.server.seen, there.server.headers, strict=True))
    assert {(path, headers.get("x-api-key")) for path, headers in at_the_server} == {
        ("/mcp", "canary-header"),
        ("/.well-known/oauth-protected-resource/mcp", None),
    }
    assert {headers.get("x-api-key") for headers in there.authority.headers} == {None}
    assert {headers.get("authorization") for headers in there.authority.headers} == {None}
    token = there.granting.secrets[1]
    sent = [headers.get("authorization") for path, headers in at_the_server if path == "/mcp"]
    assert sent == [None] + [f"Bearer {token}"] * (len(sent) - 1)


@pytest.mark.parametrize("how", ["expired", "refused though it has not expired"])
def test_an_access_token_is_refreshed_without_asking(store, tmp_path, how):
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        if how == "expired":
            changed(store, account_of(there, tmp_path), expires_at=time.time() - 1)
        there.granting.access.clear()
        state, _ = run(entry(there.url), OAuth(store), tmp_path)
        again, _ = run(entry(there.url), OAuth(store), tmp_path)
    assert (state.status, again.status) == (ServerStatus.CONNECTED, ServerStatus.CONNECTED)
    refreshes = [body for body in there.authority.bodies if "grant_type=refresh_token" in body]
    assert len(refreshes) == 1
    assert "/token" not in there.server.seen  # the refresh token went to nobody else
    assert store.get(account_of(there, tmp_path)).tokens.access_token == list(there.granting.access)[-1]


def test_a_client_secret_is_used_and_kept(store, tmp_path):
    with world() as there:
        there.granting.client_secret = "canary-client"
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        there.granting.access.clear()
        state, _ = run(entry(there.url), OAuth(store), tmp_path)
    assert state.status is ServerStatus.CONNECTED
    assert [body.count("canary-client") for body in there.authority.bodies if "grant_type=" in body] == [1, 1]


def test_a_refused_refresh_asks_again_only_where_somebody_is_there(store, tmp_path):
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        there.granting.access.clear()
        there.granting.refresh.clear()
        alone, _ = run(entry(there.url), OAuth(store), tmp_path)
        attended, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
    assert (alone.status, alone.error) == (ServerStatus.FAILED, NEEDED)
    assert attended.status is ServerStatus.CONNECTED
    assert len(there.asked) == 2


def test_a_client_that_was_forgotten_is_registered_anew(store, tmp_path):
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        for known in (there.granting.clients, there.granting.access, there.granting.refresh):
            known.clear()
        state, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
    assert state.status is ServerStatus.CONNECTED


def test_more_scope_is_asked_for(store, tmp_path):
    with world(scopes=["use"]) as there:
        there.granting.scopes = []
        first, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
        alone, _ = run(entry(there.url), OAuth(store), tmp_path)
        there.granting.scopes = None
        second, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
    assert first.error == "was authorized, and answers HTTP 403 still"
    assert alone.error == NEEDED
    assert (second.status, second.error) == (ServerStatus.CONNECTED, "")
    assert len(there.asked) == 2


# Nobody there, nobody willing, nobody in time.


def test_without_anybody_to_ask_the_line_says_what_to_do(store, tmp_path):
    with world() as there:
        state, _ = run(entry(there.url), OAuth(store), tmp_path)
    assert (state.status, state.error) == (ServerStatus.FAILED, NEEDED)
    assert there.authority.seen == []
    assert not store.file.exists()


def test_a_person_may_decline(store, tmp_path):
    with world() as there:
        there.granting.declines = True
        state, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
    assert state.error == "was not authorized: access_denied"
    assert len(there.asked) == 1  # though the handshake is tried in two ways
    assert not store.file.exists()


def test_a_person_may_not_come(store, tmp_path):
    asked = []
    with world() as there:
        state, _ = run(
            entry(there.url), OAuth(store, lambda *shown: asked.append(shown), patience=0.2), tmp_path
        )
    assert state.error == "was not authorized within 0.2 s"
    assert [server for server, _ in asked] == ["web"]
    assert closed(asked[0][1])


def test_the_address_may_not_be_shown(store, tmp_path):
    def broken(_server, address):
        raise OSError(address)

    with world() as there:
        state, _ = run(entry(there.url), OAuth(store, broken), tmp_path)
    assert state.error == "needs authorization, and its address cannot be shown (OSError)"


def test_a_person_may_take_longer_than_a_server_may_to_start(store, tmp_path):
    def slowly(server, address):
        time.sleep(2.2)
        return there.approve(server, address)

    with world() as there:
        state, _ = run(
            entry(there.url), OAuth(store, slowly), tmp_path, times=Times(start=2, list=20, shutdown=2)
        )
    assert (state.status, state.error) == (ServerStatus.CONNECTED, "")


def test_a_connection_that_is_stopped_meanwhile_closes_the_port(store, tmp_path):
    asked = []

    async def main():
        settings = Settings(
            tmp_path,
            QUICK,
            {},
            anyio.CapacityLimiter(1),
            oauth=OAuth(store, lambda *shown: asked.append(shown)),
        )
        connection = Connection(entry(there.url), settings, on_state=lambda _: None)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.run)
                while not asked:
                    await anyio.sleep(0.01)
                assert not closed(asked[0][1])
                connection.stop()

    with world() as there:
        anyio.run(main)
    assert closed(asked[0][1])


def closed(asked):
    """Whether nothing listens any more where an authorization would be sent back to."""
    back = urlsplit(parse_qs(urlsplit(asked).query)["redirect_uri"][0])
    with socket.socket() as probe:
        return probe.connect_ex((back.hostname, back.port)) != 0


# The redirect.


def test_only_the_right_request_is_the_redirect(store, tmp_path):
    seen = {}

    def meddle(server, asked):
        query = {name: values[0] for name, values in parse_qs(urlsplit(asked).query).items()}
        back, state = query["redirect_uri"], query["state"]
        seen["state"] = opened(f"{back}?state=other&code=forged")[0]
        seen["none"] = opened(f"{back}?code=forged")[0]
        seen["twice"] = opened(f"{back}?state={state}&state={state}&code=forged")[0]
        seen["letters"] = opened(f"{back}?state=%C3%A9&code=forged")[0]
        seen["error"] = opened(f"{back}?state=other&error=access_denied")[0]
        seen["code"] = opened(f"{back}?state={state}")[0]
        seen["path"] = opened(f"{back}/x?state={state}&code=forged")[0]
        seen["junk"] = junk(back)
        request = urllib.request.Request(f"{back}?state={state}&code=forged", method="PUT")
        seen["method"] = opened(request)[0]
        seen["right"] = there.approve(server, asked)

    with world() as there:
        state, _ = run(entry(there.url), OAuth(store, meddle), tmp_path)
    assert seen == {
        **dict.fromkeys(("state", "none", "twice", "letters", "error", "code"), 400),
        "path": 404,
        "method": 405,
        "junk": b"",
        "right": (200, "Authorized. You may close this window."),
    }
    assert state.status is ServerStatus.CONNECTED
    assert not any("forged" in body for body in there.authority.bodies)


def junk(back):
    """What a connection gets that is no request."""
    parts = urlsplit(back)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as stream:
        stream.sendall(b"\x16\x03\x01 hello")
        stream.shutdown(socket.SHUT_WR)
        return stream.recv(100)


def test_a_wrong_state_alone_authorizes_nothing(store, tmp_path):
    def forge(_server, asked):
        query = parse_qs(urlsplit(asked).query)
        opened(f"{query['redirect_uri'][0]}?state=forged&code=forged")

    with world() as there:
        state, _ = run(entry(there.url), OAuth(store, forge, patience=1), tmp_path)
    assert state.error == "was not authorized within 1 s"
    assert "/token" not in there.authority.seen


# The authorization server.


def test_an_authorization_server_in_trouble_is_told_and_the_grant_kept(store, tmp_path):
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        there.granting.access.clear()
        there.authority.instead["/token"] = (503, {})
        down, _ = run(entry(there.url), OAuth(store, nobody), tmp_path)
        there.authority.instead.clear()
        up, _ = run(entry(there.url), OAuth(store, nobody), tmp_path)
    assert (down.status, down.error) == (ServerStatus.FAILED, "its authorization server answered HTTP 503")
    assert up.status is ServerStatus.CONNECTED


@pytest.mark.parametrize("status", [403, 307])
def test_one_that_registers_nobody_is_told(store, tmp_path, status):
    with world() as there, serving() as elsewhere:
        there.authority.instead["/register"] = (status, {"location": address(elsewhere)})
        state, _ = run(entry(there.url), OAuth(store, nobody), tmp_path)
    assert state.error == (
        f"needs authorization, and its authorization server registers no client (HTTP {status}); "
        "write a credential into `headers` of its entry"
    )
    assert elsewhere.requests == []


def test_a_code_that_is_refused_is_told(store, tmp_path):
    with world() as there:
        there.authority.instead["/token"] = (400, {})
        state, _ = run(entry(there.url), OAuth(store, there.approve), tmp_path)
    assert state.error == "its authorization server gave no token (HTTP 400)"


def test_one_that_is_gone_is_told(store, tmp_path):
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        account = account_of(there, tmp_path)
        with serving() as gone:
            url = address(gone, "/token")
        metadata = store.get(account).metadata.model_copy(update={"token_endpoint": AnyHttpUrl(url)})
        changed(store, account, metadata=metadata, expires_at=time.time() - 1)
        untouched, _ = run(entry(there.url), OAuth(store), tmp_path)
        there.granting.access.clear()
        state, _ = run(entry(there.url), OAuth(store), tmp_path)
    assert untouched.status is ServerStatus.CONNECTED  # its own word is what counts
    assert state.error.startswith("its authorization server cannot be reached: ")


def test_one_that_never_answers_is_told():
    waiting = threading.Event()
    with serving(lambda _: waiting.wait(20) and None) as server:
        authority = Authority(0.3, local=True)
        with pytest.raises(
            NotAuthorizedError, match=r"^its authorization server did not answer within 0.3 s$"
        ):
            anyio.run(authority.send, httpx2.Request("POST", address(server), content=b"x"))
        waiting.set()


def test_one_that_answers_without_end_is_told():
    with talking(b"x" * (MAX_ANSWER + 1)) as url, pytest.raises(NotAuthorizedError, match="more than 1 MiB"):
        anyio.run(Authority(20, local=True).send, httpx2.Request("GET", url))


@contextmanager
def talking(body):
    """The address of a server that answers once."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            stream, _ = listener.accept()
            with stream:
                stream.recv(4096)
                stream.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + body)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@pytest.mark.parametrize(
    ("url", "local", "remote"),
    [
        ("https://auth.example.com/token", True, True),
        ("http://127.0.0.1:9/token", True, False),
        ("http://localhost/token", True, False),
        ("https://[::1]/token", True, False),
        ("http://auth.example.com/token", False, False),
        ("file:///etc/passwd", False, False),
        ("javascript:alert(1)", False, False),
    ],
)
def test_which_addresses_of_an_authorization_server_are_accepted(url, local, remote):
    assert (accepted(url, local=True), accepted(url, local=False)) == (local, remote)


def accepted(url, *, local):
    try:
        Authority(1, local=local).check(httpx2.URL(url))
    except NotAuthorizedError:
        return False
    return True


def test_redirects_of_the_server_are_not_followed_with_authorization_either(store, tmp_path):
    with serving() as other, serving(lambda _: (307, {"Location": address(other)})) as first:
        state, _ = run(entry(address(first)), OAuth(store, nobody), tmp_path)
    assert other.requests == []
    assert state.error.startswith("answered HTTP 307 with a redirect to ")


# While it is connected.


def test_calls_do_not_wait_for_one_another(store, tmp_path):
    with world() as there:
        _, answers = run(
            entry(there.url),
            OAuth(store, there.approve),
            tmp_path,
            lambda connection: together(connection, 4),
        )
    assert [answer.outcome for answer in answers] == [Outcome.OK] * 4


def test_a_grant_revoked_meanwhile_refuses_the_call_before_it_ran(store, tmp_path):
    async def revoked(connection):
        there.granting.access.clear()
        there.granting.refresh.clear()
        return await together(connection, 1)

    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        _, answers = run(entry(there.url), OAuth(store), tmp_path, revoked)
    assert [answer.outcome for answer in answers] == [Outcome.NOT_STARTED]


def test_a_grant_that_another_process_got_meanwhile_is_used(store, tmp_path):
    async def regranted(connection):
        there.granting.access.clear()
        there.granting.refresh.clear()
        other = anyio.to_thread.run_sync(lambda: run(entry(there.url), OAuth(store, there.approve), tmp_path))
        state, _ = await other
        return state, await together(connection, 1)

    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        _, (state, answers) = run(entry(there.url), OAuth(store), tmp_path, regranted)
    assert state.status is ServerStatus.CONNECTED
    assert [answer.outcome for answer in answers] == [Outcome.OK]


def test_calls_that_meet_an_expired_token_at_once_refresh_it_once(store, tmp_path):
    async def expired(connection):
        there.granting.access.clear()
        return await together(connection, 4)

    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        _, answers = run(entry(there.url), OAuth(store), tmp_path, expired)
    assert [answer.outcome for answer in answers] == [Outcome.OK] * 4
    assert len([body for body in there.authority.bodies if "grant_type=refresh_token" in body]) == 1


# Whose it is, and whose it is not.


def test_two_workspaces_and_two_names_share_nothing(store, tmp_path):
    (tmp_path / "other").mkdir()
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        elsewhere, _ = run(entry(there.url), OAuth(store), tmp_path / "other")
        renamed, _ = run(entry(there.url, "second"), OAuth(store), tmp_path)
        readdressed, _ = run(entry(f"{there.url}?account=2"), OAuth(store), tmp_path)
        same, _ = run(entry(there.url), OAuth(store), tmp_path / "other" / "..")
    assert (elsewhere.error, readdressed.error) == (NEEDED, NEEDED)
    assert renamed.error == NEEDED.replace("web", "second")
    assert same.status is ServerStatus.CONNECTED
    assert [(kept["server"], kept["directory"]) for kept in entries(store.file)] == [("web", str(tmp_path))]


def test_an_entry_with_a_credential_of_its_own_gets_no_other(store, tmp_path):
    with world() as there:
        spec = entry(there.url, authorization="Bearer own")
        state, _ = run(spec, OAuth(store, nobody), tmp_path)
    assert state.error == "answered HTTP 401 Unauthorized"
    assert {headers["authorization"] for headers in there.server.headers} == {"Bearer own"}
    assert there.authority.seen == []


@pytest.mark.parametrize(
    "spec",
    [
        entry("https://example.com/mcp", AUTHORIZATION="Bearer x"),
        entry("https://user:word@example.com/mcp"),
        ServerSpec("child", "stdio", command="x"),
    ],
)
def test_which_entries_get_none(store, tmp_path, spec):
    assert provider(resolve(spec, {}), tmp_path, OAuth(store), Witness()) is None


def test_what_may_be_a_key_in_the_address_is_not_shown(store, tmp_path):
    resolved = resolve(entry("https://example.com/mcp?key=${KEY}#x"), {"KEY": "canary"})
    made = provider(resolved, tmp_path, OAuth(store), Witness())
    assert made._sdk.context.server_url == "https://example.com/mcp"


def test_none_where_none_is_wanted(store, tmp_path):
    resolved = resolve(entry("https://example.com/mcp"), {})
    assert provider(resolved, tmp_path, None, Witness()) is None
    assert repr(provider(resolved, tmp_path, OAuth(store), Witness())) == "<authorization of server 'web'>"


# What is kept.

ACCOUNT = Account("web", Path("/w"), Secret("https://example.com/mcp"))
GRANT = Grant(tokens=OAuthToken(access_token="canary-access"))


def test_the_file_is_the_users_alone(store, tmp_path):
    store.put(ACCOUNT, GRANT)
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.file.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in store.file.parent.iterdir()} == {0o600}
    assert store.get(ACCOUNT).tokens.access_token == "canary-access"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_file_that_others_can_read_or_write_is_refused(store, tmp_path, mode):
    store.put(ACCOUNT, GRANT)
    store.file.chmod(mode)
    for use in (lambda: store.get(ACCOUNT), lambda: store.put(ACCOUNT, GRANT)):
        with pytest.raises(
            TokenError, match=r"others can read or write it; make it yours alone \(chmod 600\)$"
        ):
            use()
    with world() as there:
        state, _ = run(entry(there.url), OAuth(store, nobody), tmp_path)
    assert state.error.startswith(
        f"{store.file}: the token file cannot be used: others can read or write it;"
    )


def test_so_is_one_in_a_directory_that_others_can_write(store):
    store.put(ACCOUNT, GRANT)
    store.file.parent.chmod(0o777)
    with pytest.raises(TokenError, match="others can write its directory"):
        store.get(ACCOUNT)


def test_a_server_that_wants_no_authorization_does_not_care(store, tmp_path):
    store.put(ACCOUNT, GRANT)
    store.file.chmod(0o644)
    with serving(tools=[]) as server:
        state, _ = run(entry(address(server)), OAuth(store), tmp_path)
    assert (state.status, state.error) == (ServerStatus.CONNECTED, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"version": 2, "grants": {}}',
        '{"version": 1}',
        "[" * 100_000,
        '{"version": 1, "grants": []}',
    ],
)
def test_a_file_that_is_none_is_refused_and_left(store, text):
    store.put(ACCOUNT, GRANT)
    store.file.write_text(text)
    for use in (lambda: store.get(ACCOUNT), lambda: store.put(ACCOUNT, GRANT)):
        with pytest.raises(TokenError, match="it is not a token file of this version"):
            use()
    assert store.file.read_text() == text


@pytest.mark.parametrize("grant", [None, [], "canary", {"tokens": {"access_token": 7}}])
def test_a_grant_that_cannot_be_read_is_none(store, grant):
    store.put(ACCOUNT, GRANT)
    store.file.write_text(json.dumps({"version": 1, "grants": {ACCOUNT.key: {"grant": grant}}}))
    assert store.get(ACCOUNT) is None


def test_a_directory_that_cannot_be_written_costs_nothing_but_the_next_time(tmp_path, caplog):
    (tmp_path / "settings").write_text("no directory")
    store = FileStore(tmp_path / "settings" / "tokens.json")
    with pytest.raises(TokenError, match="the token file cannot be used"):
        store.put(ACCOUNT, GRANT)
    ready = FileStore(tmp_path / "full" / "tokens.json")
    with world() as there:

        def approve(server, asked):
            ready.file.parent.write_text("no directory")  # after it was looked for
            return there.approve(server, asked)

        state, _ = run(entry(there.url), OAuth(ready, approve), tmp_path)
    assert state.status is ServerStatus.CONNECTED
    (said,) = (record for record in caplog.records if record.name == "packbelt.live.servers.granted")
    assert said.getMessage() == (
        f"server 'web' is authorized for now alone: {ready.file}: the token file cannot be used: "
        "it cannot be written: File exists; check the directory"
    )


def test_no_entry_is_lost_when_several_are_written_at_once(store):
    accounts = [Account(f"s{number}", ACCOUNT.directory, ACCOUNT.url) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda account: store.put(account, GRANT), accounts))
    assert all(store.get(account) for account in accounts)


class Memory(KeyringBackend):
    priority = 1

    def __init__(self):
        super().__init__()
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        del self.kept[service, username]


@pytest.fixture
def ring():
    before = keyring.get_keyring()
    memory = Memory()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


def test_the_keyring_holds_them_where_the_user_says_so(ring, tmp_path):
    store = user_store({"PACKBELT_TOKENS": "keyring", "XDG_CONFIG_HOME": str(tmp_path)})
    with world() as there:
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        there.granting.access.clear()
        state, _ = run(entry(there.url), OAuth(store), tmp_path)
        key = account_of(there, tmp_path).key
    assert state.status is ServerStatus.CONNECTED
    assert list(ring.kept) == [("packbelt", key)]
    assert list(tmp_path.iterdir()) == []


def test_a_keyring_that_fails_is_told(ring, tmp_path):
    keyring.set_keyring(NoKeyring())
    store = KeyringStore()
    line = r"^the keyring cannot be used \(NoKeyringError\); unlock it, or set PACKBELT_TOKENS to file$"
    for use in (lambda: store.get(ACCOUNT), lambda: store.put(ACCOUNT, GRANT)):
        with pytest.raises(TokenError, match=line):
            use()
    with world() as there:
        state, _ = run(entry(there.url), OAuth(store, nobody), tmp_path)
    assert state.error.startswith("the keyring cannot be used (NoKeyringError);")


@pytest.mark.parametrize("kept", ["", "{", "[]", "null"])
def test_a_keyring_entry_that_cannot_be_read_is_none(ring, kept):
    ring.kept["packbelt", ACCOUNT.key] = kept
    assert KeyringStore().get(ACCOUNT) is None


def test_a_keyring_without_its_package_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(TokenError, match=r"needs the package `keyring`; pip install 'packbelt\[keyring\]'$"):
        user_store({"PACKBELT_TOKENS": "keyring"})


def test_where_tokens_are_kept(tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    file = FileStore(tmp_path / "packbelt" / "tokens.json")
    assert user_store(environ) == user_store({**environ, "PACKBELT_TOKENS": "file"}) == file
    with pytest.raises(TokenError) as caught:
        user_store({**environ, "PACKBELT_TOKENS": "canary-token"})
    assert (
        str(caught.value)
        == "PACKBELT_TOKENS names no place for tokens; set PACKBELT_TOKENS to file or to keyring"
    )


# Nothing of it is said aloud.

_ITS_OWN = ("mcp.server", "uvicorn", "starlette", "sse_starlette")  # the servers of the test


def test_no_secret_is_logged_printed_or_told(store, tmp_path, caplog, capfd):
    answers, errors = [], []

    async def revoked(connection):
        there.granting.access.clear()
        there.granting.refresh.clear()
        answers.extend(await together(connection, 1))

    with caplog.at_level(logging.DEBUG), world() as there:
        there.granting.client_secret = "canary-client"
        run(entry(there.url), OAuth(store, there.approve), tmp_path)
        there.granting.access.clear()
        run(entry(there.url), OAuth(store, nobody), tmp_path, revoked)
        there.granting.secrets.append("canary-echo")
        there.authority.instead["/token"] = (400, {}, b'{"error": "canary-echo"}')
        errors.append(run(entry(there.url), OAuth(store, there.approve), tmp_path)[0].error)
        there.authority.instead["/token"] = (200, {}, b'{"access_token": ["canary-echo"]}')
        errors.append(run(entry(there.url), OAuth(store, there.approve), tmp_path)[0].error)
        del there.authority.instead["/token"]
        there.authority.instead["/register"] = (201, {}, b'{"client_secret": "canary-echo"}')
        errors.append(run(entry(there.url), OAuth(store, there.approve), tmp_path)[0].error)
    printed = capfd.readouterr()
    said = [
        f"{record.getMessage()} {record.args} {record.exc_text or ''} {logging.Formatter().format(record)}"
        for record in caplog.records
        if not record.name.startswith(_ITS_OWN)
    ]
    everything = "\n".join([*said, *errors, *map(repr, answers), printed.out, printed.err])
    secrets = there.secrets()
    assert any("mcp.client.auth" in record.name for record in caplog.records)
    assert len(secrets) > 8
    assert [secret for secret in secrets if secret in everything] == []
    assert repr(store.get(account_of(there, tmp_path))) == str(GRANT) == "<grant>"


# In a terminal.


def test_the_address_is_said_whole_and_opened_in_the_browser(tmp_path):
    script = tmp_path / "browser"
    script.write_text(
        f'#!/bin/sh\necho "$1" > {tmp_path}/opened.part && mv {tmp_path}/opened.part {tmp_path}/opened\n'
    )
    script.chmod(0o755)
    program = (
        "import sys; from packbelt.cli.authorize import from_terminal; from pathlib import Path\n"
        "from packbelt.catalog.workspace import Config, Workspace\n"
        "workspace = Workspace(Path('/'), False, Config(), {}, {}, {}, {}, {}, (), (), {})\n"
        "assert from_terminal(workspace, None).interact is None\n"
        "from_terminal(workspace, print).interact('web', sys.argv[1])"
    )
    asked = "https://auth.example.com/authorize?state=x&scope=a%20b"
    done = subprocess.run(
        [sys.executable, "-c", program, asked],
        env={**os.environ, "BROWSER": str(script), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    deadline = time.monotonic() + 20
    while not (tmp_path / "opened").exists():
        assert time.monotonic() < deadline, "no browser was started"
        time.sleep(0.01)
    assert (tmp_path / "opened").read_text() == f"{asked}\n"
    assert done.stdout == f"web wants authorization, within 5 minutes, at {asked}\n"
