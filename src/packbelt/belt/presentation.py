"""The rules of placement: how a callable tool is presented, and why."""

from collections.abc import Callable, Iterator

from packbelt.belt.placement import Placement
from packbelt.belt.row import Ask, Row, pack_at
from packbelt.belt.scope import Subject
from packbelt.catalog.workspace import Pack
from packbelt.model import Reason, Rule


def _placement_row(
    rule: Rule, mask: Callable[[Placement], int], say: Callable[[Subject, Pack], Reason]
) -> Row:
    def reasons(ask: Ask, i: int) -> Iterator[Reason]:
        yield say(ask[0], pack_at(ask[0].registry, i))

    return Row(rule, lambda ask: mask(ask[1]), reasons)


def _exposure_reason(_: Subject, pack: Pack) -> Reason:
    return Reason(
        Rule.PACK_EXPOSURE, f"exposure of pack {pack.id!r} is {pack.exposure}", pack.where("exposure")
    )


def _budget_reason(subject: Subject, pack: Pack) -> Reason:
    server = pack.id.partition(":")[2]
    budget = subject.registry.workspace.config.budget
    tokens = subject.registry.state(server).tokens
    detail = (
        f"exposure of server {server!r} is auto, and its tools cost {tokens} tokens "
        f"(budget: {budget.server_tokens} a server, {budget.belt_tokens} together)"
    )
    return Reason(Rule.SERVER_BUDGET, detail, subject.registry.workspace.config.where("budget"))


def _admitted_reason(_: Subject, __: Pack) -> Reason:
    return Reason(Rule.ADMITTED, "it was placed so when it was admitted")


DIRECT = (
    _placement_row(
        Rule.NO_PACK, lambda p: p.unpacked, lambda _, __: Reason(Rule.NO_PACK, "it is in no pack")
    ),
    _placement_row(
        Rule.EXACT_SELECTOR,
        lambda p: p.exact,
        lambda s, _: Reason(Rule.EXACT_SELECTOR, "its `tools` names it exactly", s.agent.where("tools")),
    ),
    _placement_row(
        Rule.PACK_OWNER,
        lambda p: p.owned,
        lambda _, pack: Reason(Rule.PACK_OWNER, f"it owns pack {pack.id!r}", pack.where("owners")),
    ),
    _placement_row(
        Rule.PACK_CARRIER,
        lambda p: p.carried,
        lambda _, pack: Reason(Rule.PACK_CARRIER, f"it carries pack {pack.id!r}", pack.where("carriers")),
    ),
    _placement_row(
        Rule.PACK_DIRECT,
        lambda p: p.promoted,
        lambda _, pack: Reason(Rule.PACK_DIRECT, f"pack {pack.id!r} promotes it", pack.where("direct")),
    ),
    _placement_row(Rule.PACK_EXPOSURE, lambda p: p.exposed, _exposure_reason),
    _placement_row(
        Rule.ADMITTED,
        lambda p: p.recorded,
        _admitted_reason,
    ),
    _placement_row(Rule.SERVER_BUDGET, lambda p: p.fits, _budget_reason),
)

DEFERRED = (_placement_row(Rule.PACK_EXPOSURE, lambda p: p.deferred, _exposure_reason),)

PACKED = (
    _placement_row(Rule.PACK_EXPOSURE, lambda p: p.put_away, _exposure_reason),
    _placement_row(
        Rule.ADMITTED,
        lambda p: p.recorded_packed,
        _admitted_reason,
    ),
    _placement_row(Rule.SERVER_BUDGET, lambda p: p.over_budget, _budget_reason),
)
