import os
from pathlib import Path

import pytest
from runs_places import PostgresPlace, SqlitePlace, Worker
from runs_worker import WORKSPACE

from packbelt.live.runs import open_runs

VARIABLE = "PACKBELT_TEST_POSTGRES"


@pytest.fixture
def postgres():
    url = os.environ.get(VARIABLE)
    if not url:
        if os.environ.get("CI"):
            pytest.fail(f"{VARIABLE} is not set; .ci/postgres.sh sets it")
        pytest.skip(f"{VARIABLE} is not set; run: .ci/postgres.sh uv run pytest tests/runs")
    place = PostgresPlace(url)
    place.sql(f"CREATE SCHEMA {place.schema}")
    yield place
    place.sql(f"DROP SCHEMA {place.schema} CASCADE")


@pytest.fixture
def sqlite(tmp_path):
    return SqlitePlace(tmp_path / "runs.sqlite3")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def opened(place):
    """Open a store of the place, as an asynchronous context manager."""
    return lambda workspace=WORKSPACE: open_runs(place.where, workspace=Path(workspace))


@pytest.fixture
def worker(place):
    """Start a second process on the place; several, if asked several times."""
    started = []

    def start():
        started.append(Worker(place))
        return started[-1]

    yield start
    for one in started:
        if one.process.is_alive():
            one.kill()
