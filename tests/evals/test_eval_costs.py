"""What a case costs: figures that can be worked out by hand, and those of a real play."""

import pytest

from packbelt.catalog.tokens import count
from packbelt.evals import CaseReport, Result, Verdict, costs_of, model_named
from packbelt.evals.trace import Ended, Expected, Reply, Tokens, Trace, Usage


def case(*tokens, usage=None):
    replies = tuple(Reply((), "", (), usage, one) for one in tokens)
    return CaseReport(
        "c", "a", "r", (), Expected(()), Verdict(Result.REACHED, True, 0, 0), Trace(replies, Ended.ANSWERED)
    )


def test_each_request_is_paid_in_full_without_a_cache_and_what_was_read_before_at_a_tenth_with_one():
    costs = costs_of([case(Tokens(800, 1000, 10, 20), Tokens(800, 1000, 60, 5))])
    assert (costs.cases, costs.turns, costs.belt) == (1, 2, 800)
    assert costs.case == (1000 + 10 + 20) + (1000 + 60 + 5)
    # first: the prefix from the cache. second: the prefix and the ten tokens of the first conversation.
    assert costs.cached == pytest.approx((100 + 10 + 20) + (101 + 50 + 5))


def test_a_belt_that_changes_on_the_way_is_read_anew_with_all_that_follows_it():
    costs = costs_of([case(Tokens(800, 1000, 10, 20), Tokens(900, 1100, 60, 5))])
    assert costs.cached == pytest.approx((100 + 10 + 20) + (1100 + 60 + 5))
    assert costs.belt == 850


def test_costs_are_means_over_the_cases_that_were_counted():
    usage = Usage(900, 30, 400)
    costs = costs_of([case(Tokens(8, 10, 2, 3), usage=usage), case(Tokens(8, 10, 4, 3), usage=usage), case()])
    assert (costs.cases, costs.turns, costs.case) == (2, 1, 16)
    assert costs.usage == Usage(1800, 60, 800)
    assert costs.to_json()["usage"] == {"prompt": 1800, "completion": 60, "cached": 800}
    assert costs_of([case()]) is None


def test_a_play_counts_what_was_really_sent_and_said(embedded, seed, play):
    import packbelt

    turn = packbelt.turn(embedded, seed.cases[3].snapshot, "orchestrator")
    report = play(embedded, seed, model_named("bot:raw")).cases[3]
    first, last = (reply.tokens for reply in report.trace.replies)
    assert (first.belt, first.prefix) == (turn.cost.total, turn.cost.tools + count(turn.prompt))
    (call,) = report.trace.calls
    assert first.conversation == count(report.request)
    assert first.reply == count("use_mcp_server") + count(call.arguments)
    assert last.conversation == first.conversation + first.reply + count(call.answer)
    assert last.reply == count(report.trace.replies[1].text)
