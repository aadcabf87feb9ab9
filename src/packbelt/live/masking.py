"""A mask made once for many texts, which also knows a value where JSON or a `repr` has escaped it."""

import json
import re
from collections.abc import Callable, Iterable

from packbelt.live.secret import MASK, Secret
from packbelt.model.text import one_line
from packbelt.model.text import quoted as in_a_hint


def mask_of(secrets: Iterable[Secret]) -> Callable[[str], str]:
    """A function that replaces the values of these secrets in a text by `***`.

    A value with a quote, a backslash or a line break (a key in PEM) is another text inside JSON, inside the
    message of an error that quotes what it was given, and inside a hint; it is replaced there too.
    """
    spellings = {spelling for secret in secrets for spelling in _spellings(secret.reveal())}
    if not spellings:
        return str
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = re.compile("|".join(re.escape(spelling) for spelling in longest_first))
    return lambda text: pattern.sub(MASK, text)


def _spellings(value: str) -> set[str]:
    quoted = repr(value)[1:-1]
    doubled = quoted.replace("\\'", "'").replace('"', '\\"')  # a repr inside double quotes
    escaped = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    told = one_line(value), in_a_hint(value, len(value.encode("utf-8", "surrogatepass")) * 4)[1:-1]
    return {spelling for spelling in (value, quoted, doubled, *escaped, *told) if spelling}
