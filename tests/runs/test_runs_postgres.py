import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import anyio
import anyio.lowlevel
import pytest
from runs_places import Worker
from runs_worker import WORKSPACE

from packbelt.live.runs import (
    Run,
    RunBusyError,
    RunNotResumableError,
    RunStatus,
    RunStoreError,
    new_run_id,
    open_runs,
)
from packbelt.live.runs import postgres as module
from packbelt.live.secret import Secret

SEARCH = "calling server:github/search"
CANARY = "c4n@ry/pass:word?"


def shown(error):
    """All that an error shows of itself."""
    return "".join([repr(error), *traceback.format_exception(error)])


def refused(where):
    """The one line that opening fails with."""

    async def main():
        async with open_runs(where, workspace=Path(WORKSPACE)):
            pass

    with pytest.raises(RunStoreError) as error:
        anyio.run(main)
    said = str(error.value)
    assert "\n" not in said
    assert error.value.mend
    assert "4n" not in shown(error.value)
    return said


def break_sessions(place):
    """End the stores' sessions, as a server that restarts or a network that fails does."""
    place.sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'packbelt'"
    )


def test_a_wrong_password(postgres):
    wrong = postgres.server.replace(postgres.server.split(":")[2].split("@")[0], quote(CANARY, safe=""))
    said = refused(wrong)
    assert "PostgreSQL cannot be reached" in said
    assert "password authentication failed" in said
    assert "packbelt:***@127.0.0.1" in said


def test_nobody_listens():
    said = refused(f"postgresql://user:{quote(CANARY, safe='')}@127.0.0.1:1/db")
    assert said.startswith("postgresql://user:***@127.0.0.1:1/db: PostgreSQL cannot be reached:")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (f"postgresql://user:{CANARY}@127.0.0.1:1/db", "more than one @"),
        ("postgresql://user:c4nary@127.0.0.1:port/db", "cannot be read"),
        ("postgresql:c4nary@127.0.0.1", "cannot be read"),
        ("postgresql://user@127.0.0.1:1/db?password=c4nary", "a password among its parameters"),
        ("postgresql://user:c4nary@127.0.0.1:1/db?nonsense=1", "invalid connection option"),
    ],
)
def test_a_url_that_cannot_be_used(where, said):
    assert said in refused(where)


def test_no_password_in_a_repr(postgres):
    password = postgres.server.split(":")[2].split("@")[0]

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            parts = [store, *vars(store).values(), *vars(store._session).values()]
            return " ".join(map(repr, parts)), vars(store._session)

    said, parts = anyio.run(main)
    assert "_engine" in parts
    assert password not in said


def test_a_newer_form_is_refused(postgres):
    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)):
            pass

    anyio.run(main)
    postgres.sql("UPDATE packbelt_schema SET version = 2")
    assert "kept in form 2, and this packbelt knows forms up to 1; upgrade" in refused(postgres.where)


def test_a_role_that_may_not_make_tables(postgres):
    role = f"r{postgres.schema}"
    postgres.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'c4nary'")
    postgres.sql(f"GRANT USAGE ON SCHEMA {postgres.schema} TO {role}")
    try:
        where = "postgresql://" + role + ":c4nary@" + postgres.where.split("@")[1]
        assert "PostgreSQL refuses: permission denied for schema" in refused(where)
    finally:
        postgres.sql(f"DROP OWNED BY {role}")
        postgres.sql(f"DROP ROLE {role}")


def test_the_tables_may_be_another_roles(postgres):
    """Where they are made once by who may, a role with rights on the rows is enough."""
    role = f"r{postgres.schema}"

    async def main(where):
        async with open_runs(where, workspace=Path(WORKSPACE)) as store:
            await store.create(Run(new_run_id(), WORKSPACE, "explorer"))
            return await store.find(WORKSPACE)

    anyio.run(main, postgres.where)
    postgres.sql(f"CREATE ROLE {role} LOGIN PASSWORD 'c4nary'")
    postgres.sql(f"GRANT USAGE ON SCHEMA {postgres.schema} TO {role}")
    postgres.sql(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {postgres.schema} TO {role}")
    try:
        found = anyio.run(main, "postgres://" + role + ":c4nary@" + postgres.where.split("@")[1])
        assert len(found) == 2
    finally:
        postgres.sql(f"DROP OWNED BY {role}")
        postgres.sql(f"DROP ROLE {role}")


def test_a_lost_connection_is_made_anew_and_the_runs_stay_its_own(postgres):
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with (
            open_runs(postgres.where, workspace=Path(WORKSPACE)) as store,
            open_runs(postgres.where, workspace=Path(WORKSPACE)) as other,
        ):
            await store.create(run)
            break_sessions(postgres)
            await store.begin(run.id, SEARCH)  # its own way back, before anybody asked
            with pytest.raises(RunBusyError):
                await other.claim(run.id, "mine")
            break_sessions(postgres)
            await store.settle(run.id)
            break_sessions(postgres)
            await store.finish(run.id, RunStatus.COMPLETED, output="done", messages=[1])
            return await other.get(run.id)

    done = anyio.run(main)
    assert (done.status, done.resumable, done.output) == (RunStatus.COMPLETED, True, "done")


def test_a_run_taken_while_the_connection_was_lost_is_not_marked_again(postgres):
    """Whoever lost it finds out before the call."""
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with (
            open_runs(postgres.where, workspace=Path(WORKSPACE)) as store,
            open_runs(postgres.where, workspace=Path(WORKSPACE)) as other,
        ):
            await store.create(run)
            break_sessions(postgres)
            taken = await other.claim(run.id, "mine now")
            with pytest.raises(RunBusyError, match="another process"):
                await store.begin(run.id, SEARCH)
            await other.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            with pytest.raises(RunStoreError, match="no longer at work"):
                await store.begin(run.id, SEARCH)
            return taken

    assert anyio.run(main).request == "mine now"


@pytest.mark.parametrize("doing", ["create", "claim", "finish", "keep", "begin"])
def test_an_answer_lost_on_its_way_is_no_failure(postgres, monkeypatch, doing):
    """The statement went through, and the connection broke before that was known."""
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            if doing != "create":
                await store.create(run)
            if doing == "claim":
                await store.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            ledger = store._ledger
            whole, calls = getattr(ledger, doing), []

            def then_lost(*args, **kwargs):
                result = whole(*args, **kwargs)
                if not calls:
                    calls.append(1)
                    break_sessions(postgres)
                    store._session.run("SELECT 1", {})
                return result

            monkeypatch.setattr(ledger, doing, then_lost)
            await {
                "create": lambda: store.create(run),
                "claim": lambda: store.claim(run.id, "more"),
                "finish": lambda: store.finish(run.id, RunStatus.COMPLETED, output="x", messages=[]),
                "keep": lambda: store.keep(run.id, [1]),
                "begin": lambda: store.begin(run.id, SEARCH),
            }[doing]()
            return calls, await store.get(run.id)

    calls, kept = anyio.run(main)
    assert calls == [1]
    assert kept.status is (RunStatus.COMPLETED if doing == "finish" else RunStatus.RUNNING)


def test_a_server_that_stays_away_is_one_line(postgres, monkeypatch):
    monkeypatch.setattr(module, "PAUSES", (0.01, 0.01))
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            await store.create(run)
            break_sessions(postgres)
            engine, store._session._engine = (
                store._session._engine,
                module._Session(module._parsed(Secret("postgresql://user:c4nary@127.0.0.1:1/db")))._engine,
            )
            with pytest.raises(RunStoreError, match="PostgreSQL cannot be reached") as error:
                await store.begin(run.id, SEARCH)
            store._session._engine = engine
            await store.begin(run.id, SEARCH)
            return error.value, await store.get(run.id)

    error, kept = anyio.run(main)
    assert "c4nary" not in shown(error)
    assert kept.reason == SEARCH


@pytest.mark.parametrize("how", ["scope", "task"])
def test_a_mark_is_made_though_its_task_is_cancelled(postgres, how):
    import asyncio

    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            await store.create(run)
            if how == "scope":
                with anyio.CancelScope() as scope:
                    scope.cancel()
                    await store.spoil([run.id], "cancelled in a call")
                    await anyio.lowlevel.checkpoint()
                assert scope.cancelled_caught
            else:
                task = asyncio.ensure_future(store.spoil([run.id], "cancelled in a call"))
                await asyncio.sleep(0.001)
                task.cancel()
                await asyncio.wait([task])
            for _ in range(20):  # what comes next waits for what is under way
                await store.keep(run.id, ["next"])
            return await store.get(run.id)

    kept = anyio.run(main)
    assert kept.messages == ["next"]
    assert (kept.spoiled, kept.reason) == (True, "cancelled in a call")


def test_many_tasks_share_the_one_session(postgres):
    runs = [Run(new_run_id(), WORKSPACE, "explorer") for _ in range(30)]

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:

            async def work(run):
                await store.create(run)
                await store.begin(run.id, SEARCH)
                await store.settle(run.id)
                await store.finish(run.id, RunStatus.COMPLETED, output=run.id, messages=[run.id])

            async with anyio.create_task_group() as group:
                for run in runs:
                    group.start_soon(work, run)
            return postgres.sessions(), [await store.get(run.id) for run in runs]

    count, kept = anyio.run(main)
    assert count == 1
    assert [(run.output, run.messages) for run in kept] == [(run.id, [run.id]) for run in runs]
    postgres.wait_for_sessions(0)


def test_a_transaction_that_fails_leaves_nothing_and_the_session_goes_on(postgres):
    run = Run(new_run_id(), WORKSPACE, "explorer")

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            await store.create(run)
            postgres.sql("ALTER TABLE packbelt_conversations RENAME TO away")
            with pytest.raises(RunStoreError, match=r"PostgreSQL refuses: relation .* does not exist"):
                await store.finish(run.id, RunStatus.COMPLETED, output="", messages=[])
            postgres.sql("ALTER TABLE away RENAME TO packbelt_conversations")
            return await store.get(run.id)

    assert anyio.run(main).status is RunStatus.RUNNING


def test_a_killed_process_is_found_on_the_server_too(postgres):
    """Its session ends with it, and so does its lock; the other's stays."""
    killed, alive = Worker(postgres).opened(), Worker(postgres).opened()
    run, kept = new_run_id(), new_run_id()
    assert killed.ask("create", run) == "ok"
    assert alive.ask("create", kept) == "ok"
    assert alive.ask("begin", kept) == "ok"
    killed.kill()
    assert alive.ask("claim", run) == "ok"
    alive.kill()

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            with pytest.raises(RunNotResumableError, match="the call may have happened"):
                await store.claim(kept, "go on")
            return await store.claim(run, "go on")

    assert anyio.run(main).request == "go on"


def test_two_that_ask_at_once_do_not_take_each_other_for_the_owner(postgres):
    import psycopg

    killed, run = Worker(postgres).opened(), new_run_id()
    assert killed.ask("create", run) == "ok"
    killed.kill()
    ((owner,),) = postgres.sql("SELECT owner FROM packbelt_runs")

    async def main():
        async with open_runs(postgres.where, workspace=Path(WORKSPACE)) as store:
            return await store.get(run)

    with psycopg.connect(postgres.where) as another:
        ((asking,),) = another.execute(
            "SELECT pg_try_advisory_xact_lock_shared(%s)", (int(owner),)
        ).fetchall()
        assert asking
        assert anyio.run(main).status is RunStatus.FAILED


@pytest.mark.parametrize("missing", ["sqlalchemy", "psycopg"])
def test_without_the_extra_one_line_says_what_to_install(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import anyio
from pathlib import Path
from packbelt.live.runs import RunStoreError, open_runs
async def main():
    async with open_runs("postgresql://u:c4nary@127.0.0.1:1/db", workspace=Path("/w")):
        pass
try:
    anyio.run(main)
except RunStoreError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "runs in PostgreSQL need the extra `postgres`; pip install 'packbelt[postgres]'\n"


def test_sqlite_runs_import_no_sqlalchemy():
    code = "import sys, packbelt.live.runs; print('sqlalchemy' in sys.modules, 'psycopg' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"
