"""A real model on cases of `routing`: promoted hand-offs are reached more often than packed ones.

Opt-in: PACKBELT_TEST_MODEL names the model, such as `local-names:qwen2.5-coder-0.5b`. What is asserted is the
direction alone; exact choices differ from one processor to another.
"""

import os

import pytest

from packbelt.evals import LAYOUTS, Result, Suite, choose, model_named, read_suites
from packbelt.evals.judge.paired import ALPHA, mcnemar
from packbelt.model import PackbeltError

NAME = os.environ.get("PACKBELT_TEST_MODEL")
JOBS = {"setup_skills", "run_skill", "use_mcp_server", "setup_mcp_server"}


@pytest.fixture(scope="module")
def model():
    if not NAME:
        pytest.skip("PACKBELT_TEST_MODEL names no model")
    pytest.importorskip("xllamacpp")
    try:
        return model_named(NAME)
    except PackbeltError as error:
        pytest.skip(str(error))


def test_a_real_model_reaches_more_when_hand_offs_are_promoted(embedded, model, play):
    cases = choose(read_suites(embedded), "routing")[0].cases
    mine = tuple(
        case for case in cases if JOBS & set(case.tags) and not {"two_steps", "implicit"} & set(case.tags)
    )
    suite = Suite("routing", mine[:20])
    promoted, packed = (
        {case.id: case for case in play(LAYOUTS[layout](embedded), suite, model).cases}
        for layout in ("promoted", "packed")
    )
    both = [*promoted.values(), *packed.values()]
    assert not [case for case in both if case.result in (Result.HARNESS_ERROR, Result.AGENT_ERROR)]
    assert all(reply.usage.prompt for case in both for reply in case.trace.replies)
    gained = sum(promoted[name].passed and not packed[name].passed for name in promoted)
    lost = sum(packed[name].passed and not promoted[name].passed for name in promoted)
    assert gained > lost
    assert mcnemar(gained, lost) < ALPHA, (gained, lost)
