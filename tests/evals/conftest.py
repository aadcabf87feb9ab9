"""The embedded workspace, its suites, and a model whose replies a test writes down."""

from pathlib import Path

import anyio
import pytest

import packbelt
from packbelt.evals import Case, Message, Suite, choose, read_suites, run_suite
from packbelt.evals.models import call, say

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def embedded():
    return packbelt.load(ROOT)


@pytest.fixture(scope="session")
def seed(embedded):
    return choose(read_suites(embedded), "seed")[0]


@pytest.fixture(scope="session")
def controls(embedded):
    return choose(read_suites(embedded), "controls")[0]


@pytest.fixture
def play():
    def run(workspace, suite, model):
        return anyio.run(run_suite, workspace, suite, model)

    return run


class Written:
    """A model that makes these replies: a text, or a name with arguments; what it was sent is kept."""

    name = "written"

    def __init__(self, *replies):
        self.replies = replies
        self.requests = []

    def begin(self, *_):
        self.left = list(self.replies)
        return self

    async def reply(self, request):
        self.requests.append(request)
        if not self.left:
            return say("Done.")
        said = self.left.pop(0)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, (str, dict)):
            return say(said) if isinstance(said, str) else said
        return call(len(self.requests), *said)


@pytest.fixture
def written():
    return Written


@pytest.fixture
def one(play):
    """Play one case, and give its report."""

    def run(workspace, model, *expect, **more):
        conversation = (Message("user", more.pop("request", "Install a code review skill")),)
        steps = tuple((step,) if isinstance(step, str) else step for step in expect)
        case = Case("case", more.pop("agent", "orchestrator"), conversation, steps, **more)
        return play(workspace, Suite("suite", (case,)), model).cases[0]

    return run
