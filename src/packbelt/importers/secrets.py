"""What looks like a secret written in clear: judged by the name that it stands under, and by its shape.

Judged too often rather than too seldom, since a variable too many costs a line in a shell's profile. Every
pattern here takes time in proportion to the text, whatever the text is.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

REFERENCE = re.compile(r"(?<!\$)\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?\}")
"""A reference to a variable, as packbelt reads it."""
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|passphrase|passcode|credential|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key"
    r"|auth|bearer|cookie|signature|connection[-_. ]?string|conn[-_. ]?str|dsn|webhook"
    r"|(?:^|[-_. ])(?:pat|key|pin|sig)s?$",
    re.IGNORECASE,
)
_CAMEL_KEY = re.compile(r"[a-z0-9](?:Key|Pat|Pin)$")
_PASSWORD = re.compile(r"passw|pwd|passphrase|passcode|(?:^|[-_. ])pin$", re.IGNORECASE)
_PLAIN = re.compile(r"(?:true|false|yes|no|on|off|none|null|\d{1,6})\Z", re.IGNORECASE)
_SHAPE = re.compile(
    r"(?:\b|_)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|\bgh[opusr]_\w{16,}|\bgithub_pat_\w+|\bglpat-[\w-]{12,}"
    r"|\bxox[a-z]-[\w-]+|\b(?:AKIA|ASIA)[0-9A-Z]{12,}|\bAIza[\w-]{20,}|\bya29\.[\w-]+|\beyJ[\w-]{8,}\.[\w.-]+"
    r"|\b(?:hf|npm|ntn|dop_v1|lin_api|shpat|tvly|fc|dckr_pat|SG)[-_.][\w.-]{12,}"
)  # fmt: skip
_BEGIN = "-----BEGIN"
_AFTER_SCHEME = re.compile(r"\b(?:Bearer|Basic) (\S{8,})")
_SCHEME = re.compile(r"\s*(?:Bearer|Basic|Token|ApiKey)\s+(?=\S)", re.IGNORECASE)
_HEAD = re.compile(r"(--?[A-Za-z][\w.-]*)=|([A-Za-z_][\w.-]*)(?:=|:\s*)")
_PAIR = re.compile(
    r"(?<![\w.-])(?P<name>-{0,2}[A-Za-z_][\w.-]*)\\*[\"']?\s?[=:]\s?(?!//)"
    r"(?:\\*\"(?P<double>[^\"\\]+)|\\*'(?P<single>[^'\\]+)|(?:(?:Bearer|Basic|Token|ApiKey)\s)?"
    r"(?P<bare>[^\s;&,\"'\\{}\[\]()]+))",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?<!\S)(?P<name>--?[A-Za-z][\w.-]*)[ \t]+(?!-)[\"']?([^\s\"']+)")
_PORT = re.compile(r"\d+(?:[/?#]|\Z)")
_HOST = re.compile(r"[^/?#@]*\.[^/?#@]*|localhost(?::\d+)?|[^/?#@:]+:\d+")
_PIECE = re.compile(r"[^\s\"'/?&#=.:@;,<>()\[\]{}|\\`]+")
_WORD = re.compile(r"[^\s\"'=:;,<>()\[\]{}|\\`&]+")
_RANDOM = re.compile(r"[A-Za-z0-9_+~%-]{20,}\Z")
_BASE64 = re.compile(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z0-9+/_-]{32,}\Z")
_UNQUOTED = re.compile(r"[^\s\"']+")
_BETWEEN = re.compile(r"[^\0]+")
_GLUE = re.compile(r"\s*[A-Za-z-]+\s*[\s:=]\Z")
_TAIL = re.compile(r"[A-Za-z0-9_=+~-]*")
_HEADS = 4
"""Names that may stand before one another: `--header=X-Key: value`."""
_ENTROPY = 3.2
"""Bits a letter, from which on a word of letters and digits is no word."""
_LEAST = 4
"""Letters and digits from which on what stands beside a reference may be part of a secret."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that looks like a secret.

    Attributes:
        start: where it begins.
        end: where it ends.
        name: the name that it stands under in the text; empty where it stands alone.
    """

    start: int
    end: int
    name: str = ""


def secret_name(name: str) -> bool:
    """Whether what stands under this name is probably a secret."""
    return bool(_SECRET_NAME.search(name) or _CAMEL_KEY.search(name))


def token_like(name: str) -> bool:
    """Whether what should name a variable is itself a secret, put in the wrong place."""
    return bool(_SHAPE.fullmatch(name)) or (
        _random(name) and any(c.islower() for c in name) and sum(c.isdigit() for c in name) > _LEAST
    )


def secrets_of(text: str, name: str = "") -> list[Span]:
    """The parts of a value that look like secrets, in their order, none within another.

    Args:
        text: a value. References to variables in it are none.
        name: what it stands under: a variable, a header, a parameter or the flag before it.
    """
    if _BEGIN in text:
        return [Span(0, len(text), name)]
    plain = REFERENCE.sub(lambda found: "\0" * len(found.group()), text)
    found = sorted(_spans(plain, name), key=lambda one: (one.start, -one.end))
    merged: list[Span] = []
    for span in found:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.name or span.name)
        else:
            merged.append(span)
    return merged


def masked(text: str) -> str:
    """A text with its secrets covered, for people's eyes."""
    for span in reversed(secrets_of(text)):
        text = f"{text[: span.start]}***{text[span.end :]}"
    return text


def _spans(text: str, name: str) -> Iterator[Span]:
    at = 0
    for _ in range(_HEADS):
        if name and secret_name(name) and not _is_plain(name, text[at:]):
            yield from _whole(text, at, name)
            return
        head = _HEAD.match(text, at)
        if head is None or text.startswith("//", head.end()):
            break
        name, at = head.group(1) or head.group(2), head.end()
    yield from _shapes(text)
    yield from _named(text)
    for word in _UNQUOTED.finditer(text):
        yield from _address(word.group(), word.start())
        yield from _random_words(word.group(), word.start())


def _whole(text: str, at: int, name: str) -> Iterator[Span]:
    """All of a value but the word before a token, references, and what only holds these together."""
    scheme = _SCHEME.match(text, at)
    at = scheme.end() if scheme else at
    if "\0" not in text[at:]:
        if text[at:].strip():
            yield Span(at, len(text), name)
        return
    for found in _BETWEEN.finditer(text, at):
        glue = found.end() < len(text) and _GLUE.match(found.group())
        if not glue and sum(c.isalnum() for c in found.group()) >= _LEAST:
            yield Span(found.start(), found.end(), name)


def _shapes(text: str) -> Iterator[Span]:
    for found in _SHAPE.finditer(text):
        rest = _TAIL.match(text, found.end())
        yield Span(found.start() + found.group().startswith("_"), rest.end() if rest else found.end())
    for found in _AFTER_SCHEME.finditer(text):
        if "\0" not in found.group(1):
            yield Span(found.start(1), found.end(1))


def _named(text: str) -> Iterator[Span]:
    """`name=value`, `"name": "value"` and `--name value` anywhere in a text."""
    for pattern in (_PAIR, _FLAG):
        for found in pattern.finditer(text):
            name, value = found.group("name"), found.group(found.lastindex or 0)
            start, end = found.span(found.lastindex or 0)
            if "\0" in value or not secret_name(name) or _is_plain(name, value):
                continue
            scheme = _SCHEME.match(value)
            yield Span(start + (scheme.end() if scheme else 0), end, name)


def _address(word: str, at: int) -> Iterator[Span]:
    """Who an address logs in as: a password, also one with letters that it would have to escape."""
    start = word.find("://")
    while start != -1:
        start += len("://")
        stop = word.find("://", start)
        part = word[start : stop if stop != -1 else len(word)]
        user, held = _login(part)
        if held and "\0" not in held:
            begin = at + start + (len(user) + 1 if user is not None else 0)
            if user is not None or _random(held) or _SHAPE.search(held):
                yield Span(begin, begin + len(held), "password" if user is not None else "")
        start = stop


def _login(part: str) -> tuple[str | None, str]:
    """The user, if there is one besides, and the password or token before an `@`; else nothing."""
    first, last = part.find("@"), part.rfind("@")
    end = first if _HOST.match(part, first + 1) else last
    login = part[: max(end, 0)]
    user, colon, password = login.partition(":")
    if any(letter in user for letter in "/?#") or password.startswith("/") or _PORT.match(password):
        return None, ""
    return (user, password) if colon else (None, user)


def _random_words(word: str, at: int) -> Iterator[Span]:
    """Long words of letters and digits that nobody would think up."""
    address = "://" in word
    for found in (_PIECE if address else _WORD).finditer(word):
        piece = found.group().rstrip("=")
        if _random(piece) or (not address and _base64(piece)):
            yield Span(at + found.start(), at + found.end())


def _random(text: str) -> bool:
    return bool(_RANDOM.match(text)) and any(c.isalpha() for c in text) and _scattered(text)


def _base64(text: str) -> bool:
    path = text.startswith(("/", "~")) or "/" not in text
    return not path and bool(_BASE64.match(text)) and _scattered(text)


def _scattered(text: str) -> bool:
    if sum(c.isdigit() for c in text) < 3:  # noqa: PLR2004 - as in words with a year or a version
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) >= _ENTROPY


def _is_plain(name: str, value: str) -> bool:
    """Whether a value is a switch or a number, such as a limit of tokens; a password may be a number."""
    value = value.strip()
    return bool(_PLAIN.match(value)) and not (_PASSWORD.search(name) and value.isdigit())
