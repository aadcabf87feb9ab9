"""`run`: every check over one workspace, the findings sorted and each once."""

from collections.abc import Callable, Iterator

from packbelt.catalog.snapshot import Snapshot
from packbelt.catalog.workspace import Workspace
from packbelt.checks import budgets, handoffs, laws, packs, policies, promises, routes, unused
from packbelt.checks.workbench import Workbench
from packbelt.model import Diagnostic, Level

Check = Callable[[Workbench], Iterator[Diagnostic]]

CHECKS: tuple[Check, ...] = (
    *packs.CHECKS,
    *policies.CHECKS,
    *handoffs.CHECKS,
    *routes.CHECKS,
    *promises.CHECKS,
    *budgets.CHECKS,
    *unused.CHECKS,
    *laws.CHECKS,
)
"""Every check. Each reads the workbench and yields what it finds, in any order."""

_GRAVITY = {level: place for place, level in enumerate(Level)}


def run(workspace: Workspace, snapshot: Snapshot | None = None) -> tuple[Diagnostic, ...]:
    """All that is wrong or remarkable, errors first, then by file, line and code.

    What the files' reading reported, what each agent's belt and sections report and what the checks find,
    each finding once. An agent that cannot start is a finding with all its reasons; the other checks pass
    over it. The same workspace and snapshot give the same findings.

    Args:
        workspace: what may exist.
        snapshot: what is true now; None for nothing connected.

    Raises:
        VocabularyError: the vocabulary that tokens are counted with is missing or is not the published one.
    """
    return findings(Workbench(workspace, snapshot))


def findings(bench: Workbench) -> tuple[Diagnostic, ...]:
    """What `run` finds, on a workbench that is there already."""
    return tuple(sorted(dict.fromkeys(_findings(bench)), key=_order))


def _findings(bench: Workbench) -> Iterator[Diagnostic]:
    yield from bench.workspace.diagnostics
    for reasons in bench.refused.values():
        yield from reasons
    for one in bench.turns.values():
        yield from one.diagnostics
    for check in CHECKS:
        yield from check(bench)


def _order(found: Diagnostic) -> tuple[int, str, int, str, str, str]:
    where = found.where
    file, line = (where.file, where.line) if where else ("", 0)
    return (_GRAVITY[found.level], file, line, found.code, found.message, found.mend)
