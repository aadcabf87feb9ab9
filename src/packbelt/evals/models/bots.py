"""Policy bots: each acts like one habit of the failing model of the report.

What they can see decides what they do, so that a suite that a bot fails under one layout and passes under
another says something of the layout. They know from the case which calls are right and which tools are the
specialists'; what they cannot do is call what they do not see, but for the disobedient one. All but the first
and the last take a hand-off that is advertised.
"""

from collections.abc import Callable, Sequence
from itertools import chain

from packbelt.evals.bound import Bound
from packbelt.evals.cases import Wish
from packbelt.evals.models.scripted import Scripted

LOOP = 8
"""Times that the looping bot does the same."""


def raw(case: Bound) -> Sequence[Wish]:
    """Runs the specialist's own tools itself wherever it can see them, as the report's model did."""
    return [Wish((*case.raw, *step)) for step in case.wanted]


def guess(case: Bound) -> Sequence[Wish]:
    """Opens a pack, and makes up the name of a tool in it."""
    return [Wish(step, guess=_made_up(step[0])) for step in case.wanted]


def web(case: Bound) -> Sequence[Wish]:
    """Opens no pack; asks the web."""
    return [Wish((*step, *case.web), look=False) for step in case.wanted]


def loop(case: Bound) -> Sequence[Wish]:
    """Runs a specialist's own tool again and again, where no hand-off is in front of it."""
    again = [Wish(case.raw, times=LOOP)] if case.raw else []
    return [*(Wish(step, look=not case.raw) for step in case.wanted), *again]


def disobedient(case: Bound) -> Sequence[Wish]:
    """Calls a tool that it was not shown, then what the refusal names."""
    blind = [Wish(case.raw[:1], blind=True)] if case.raw else []
    told = [Wish(told=True), *raw(case)[1:]] if case.raw else raw(case)
    return [*blind, *told]


BOTS: dict[str, Callable[[Bound], Sequence[Wish]]] = {
    "raw": raw,
    "guess": guess,
    "web": web,
    "loop": loop,
    "disobedient": disobedient,
}
"""Every bot by name."""


def bot(name: str) -> Scripted:
    """The bot of a name.

    Raises:
        KeyError: there is none.
    """
    return Scripted(f"bot:{name}", BOTS[name])


def scripted() -> Scripted:
    """The model that follows each case's own wishes, or the report's habit where it has none."""
    return Scripted("scripted", lambda case: case.case.wishes or raw(case))


def _made_up(name: str) -> str:
    """A name in the manner of the report: `install_skill` for `setup_skills`."""
    rest = name.partition("_")[2] or name
    return "_".join(chain(("install",), rest.removesuffix("s").split("_")))
