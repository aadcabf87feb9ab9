"""Packs: members, owners and carriers that exist, and owners that can do their job."""

from collections.abc import Iterator, Sequence

from packbelt.catalog.near import nearest, suggestion
from packbelt.catalog.registry import bits
from packbelt.catalog.workspace import Pack
from packbelt.checks.workbench import Workbench, called, listed
from packbelt.model import NOTHING_TO_DO, Access, Code, Diagnostic, Exposure, Level, Where


def members(bench: Workbench) -> Iterator[Diagnostic]:
    """Members with no tool behind them. Only a warning: a host may register them when it loads the files."""
    index = bench.registry.index
    known = [*index.native, *index.handoff]
    for pack in bench.workspace.packs.values():
        for name in pack.members:
            if index.find(name) is not None:
                continue
            close = nearest(name, known)
            guess = f"did you mean {close!r}? Else define" if close else "define"
            yield Diagnostic(
                Level.WARNING,
                Code.MEMBER_UNKNOWN,
                f"member {name!r} of pack {pack.id!r} has no tool behind it",
                _place(pack, f"tools.{name}", "tools"),
                f"{guess} it here, or register it in Python",
                name,
            )


def twins(bench: Workbench) -> Iterator[Diagnostic]:
    """Names that two packs claim: the loader refuses such files, a workspace made in Python may have them."""
    claimed: dict[str, Pack] = {}
    for pack in bench.workspace.packs.values():
        for name in pack.members:
            other = claimed.setdefault(name, pack)
            if other is not pack:
                yield Diagnostic(
                    Level.ERROR,
                    Code.TOOL_DUPLICATE,
                    f"tool {name!r} is in two packs, {other.id!r} and {pack.id!r}",
                    _place(pack, f"tools.{name}", "tools"),
                    "remove it from one of them",
                    name,
                )


def holders(bench: Workbench) -> Iterator[Diagnostic]:
    """Owners and carriers that are no agents: a renamed agent silently stops being a way in."""
    for pack in bench.workspace.packs.values():
        for key, names in (("owners", pack.owners), ("carriers", pack.carriers)):
            for name in names:
                place = _place(pack, f"{key}.{name}", key)
                yield from _holder(bench, name, names, f"`{key}` of pack {pack.id!r}", place)
    entries = bench.workspace.config.servers
    common = entries.get("*")
    for server, policy in entries.items():
        for key in ("owners", "carriers"):
            names = getattr(policy, key)
            if server == "*" or common is None or names != getattr(common, key):  # merged: said once, for "*"
                for name in names:
                    yield from _holder(bench, name, names, f"`{key}` of server {server!r}", policy.where)


def _holder(
    bench: Workbench, name: str, beside: Sequence[str], what: str, where: Where | None
) -> Iterator[Diagnostic]:
    agents = {*bench.workspace.agents, *bench.workspace.broken}
    if name not in agents:
        yield Diagnostic(
            Level.ERROR,
            Code.OWNER_UNKNOWN,
            f"{name!r} in {what} is no agent",
            where,
            suggestion(name, agents.difference(beside), otherwise="name an agent, or remove it"),
            name,
        )


def idle(bench: Workbench) -> Iterator[Diagnostic]:
    """Owners that can call none of their pack.

    A hand-off to the owner himself does not count: nobody hands off to himself, and a pack that holds
    nothing else asks nothing of its owner. An error where the pack is reserved, unless it passes.
    """
    index = bench.registry.index
    for pack_id, mask in bench.packs.items():
        pack = bench.registry.pack(pack_id)
        if pack.exposure is Exposure.OFF:
            continue
        for owner in pack.owners:
            link = index.to_agent.get(owner)
            work = mask & ~(0 if link is None else 1 << link)
            belt = bench.belts.get(owner)
            if not work or belt is None or belt.callable & work:
                continue
            i = next(bits(work))
            reason = belt.reasons(i)[0]
            rested = bench.at_rest(owner)
            passing = rested is not None and rested.callable & work
            yield Diagnostic(
                Level.WARNING if pack.access is Access.OPEN or passing else Level.ERROR,
                Code.OWNER_IDLE,
                f"{owner!r} owns {called(pack_id)} and can call none of its tools; of "
                f"{bench.registry.tools[i].name!r}: {reason.detail}",
                _place(pack, f"owners.{owner}", "owners"),
                f'grant them in its `tools` (such as "pack:{pack_id}"), or remove the owner',
                owner,
            )


def ownerless(bench: Workbench) -> Iterator[Diagnostic]:
    """Packs that are reserved for owners and have none: nobody can be handed their work."""
    for pack_id in bench.packs:
        pack = bench.registry.pack(pack_id)
        if pack.access is Access.OWNERS and not pack.owners and pack.exposure is not Exposure.OFF:
            yield Diagnostic(
                Level.ERROR,
                Code.PACK_NO_WAY_IN,
                f"{called(pack_id)} is reserved for its owners and has none, so that no request reaches it",
                pack.where("access"),
                "name an owner, or write `access: open`",
                pack_id,
            )


def namesakes(bench: Workbench) -> Iterator[Diagnostic]:
    """Packs called as a tool is: harmless, since a selector says which is meant, and confusing to read."""
    for pack in bench.workspace.packs.values():
        if bench.registry.index.find(pack.id) is not None:
            yield Diagnostic(
                Level.NOTE,
                Code.PACK_IS_TOOL,
                f"pack {pack.id!r} is called as a tool is; {pack.id!r} in a list means the tool, "
                f"'pack:{pack.id}' the pack",
                _place(pack, "id", ""),
                NOTHING_TO_DO,
                pack.id,
            )


def unused(bench: Workbench) -> Iterator[Diagnostic]:
    """Packs of which no agent can call anything. One that is off is so on purpose."""
    for pack_id, mask in bench.packs.items():
        pack = bench.registry.pack(pack_id)
        if mask & bench.callable_by_any or pack.exposure is Exposure.OFF or not bench.belts:
            continue
        why = "it has no members" if not pack.members else "none of its members has a tool behind it"
        if mask:
            i = next(bits(mask))
            belt = bench.belts.get(bench.root) or next(iter(bench.belts.values()))
            name, state = bench.registry.tools[i].name, belt.state(i)
            why = f"for {belt.agent!r}, {name!r} is {state}: {belt.reasons(i)[0].detail}"
        yield Diagnostic(
            Level.WARNING,
            Code.PACK_UNUSED,
            f"no agent can call any tool of {called(pack_id)} ({listed(pack.members) or 'empty'}): {why}",
            pack.where(),
            "grant it to an agent, write `exposure: off`, or remove it",
            pack_id,
        )


def _place(pack: Pack, key: str, otherwise: str) -> Where | None:
    return pack.where(key if key in pack.lines else otherwise)


CHECKS = (members, twins, holders, idle, ownerless, namesakes, unused)
"""The checks of this family."""
