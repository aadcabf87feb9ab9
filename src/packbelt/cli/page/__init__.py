"""A report as one page that opens anywhere: everything is in it, and nothing is fetched.

The style is `style/*.css` and the program `script/*.js`, each joined in the order of their names; the frame
is `page.html.j2`. What the page knows is the JSON of the report, in a script element that is data. A policy
in the page's head allows script and style by their hashes and forbids everything else, so that a description
that somebody managed to have read as markup could neither run nor ask anyone for anything.
"""

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

_ESCAPED = re.compile("[<>&\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""What might end a script element, or is unseen, or no Unicode."""


def page_of(data: dict[str, Any]) -> str:
    """The page of a report's JSON, as HTML with a newline at its end."""
    here = files(__name__)
    script, style = _joined("script", ".js"), _joined("style", ".css")
    frame = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True).from_string(
        here.joinpath("page.html.j2").read_text(encoding="utf-8")
    )
    return frame.render(
        title=data["workspace"] or "packbelt's own workspace",
        style=Markup(style),  # noqa: S704 - the package's own files
        script=Markup(script),  # noqa: S704
        data=Markup(embedded(data)),  # noqa: S704 - escaped for where it stands
        script_hash=_hash(script),
        style_hash=_hash(style),
    )


def embedded(data: Any) -> str:
    """JSON that can stand in a script element: no letter of it is markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


@cache
def _joined(folder: str, ending: str) -> str:
    """The files of a folder, one behind the other."""
    parts: list[Traversable] = sorted(files(__name__).joinpath(folder).iterdir(), key=lambda part: part.name)
    texts = (part.read_text(encoding="utf-8") for part in parts if part.name.endswith(ending))
    return "\n" + "\n".join(texts)
