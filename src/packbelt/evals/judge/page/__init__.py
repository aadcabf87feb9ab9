"""A run as one HTML page that needs nothing else: no network, no other file."""

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from packbelt.evals.judge.compare import Comparison
from packbelt.evals.judge.coverage import Coverage
from packbelt.evals.judge.page.traces import embedded_json, traces
from packbelt.evals.judge.page.view import view
from packbelt.evals.trials import Played


def page(
    played: Sequence[Played],
    comparisons: Sequence[Comparison] = (),
    coverage: Coverage | None = None,
    title: str = "Routing evals",
) -> str:
    """The page.

    Whatever a model said is text on it: values are escaped, the traces are data that a script reads as JSON
    and writes as text, and the page's own policy runs no script but that one.

    Args:
        played: the run.
        comparisons: what was compared, in the order in which it is shown.
        coverage: what the suites cover; None to leave it out.
        title: over it.

    Raises:
        NoCasesError: nothing was played.
    """
    script = _text("page.js")
    return _template().render(
        title=title,
        style=_text("page.css"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        traces=embedded_json(traces(played)),
        coverage=coverage,
        **view(played, comparisons),
    )


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_text("page.html.j2"))


@cache
def _text(name: str) -> str:
    return (files(__name__) / name).read_text(encoding="utf-8")
