"""JSON as packbelt writes it: two forms, each with one use."""

import json
from hashlib import sha256

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def compact(data: object) -> str:
    """JSON without blanks, non-ASCII as it is, keys in the order given: what is sent."""
    return _compact(data)


def canonical(data: object) -> str:
    """JSON without blanks and with sorted keys: equal content, equal text; what is compared."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def digest(data: object) -> str:
    """`sha256:` and the hex digest of the canonical JSON."""
    return "sha256:" + sha256(canonical(data).encode("utf-8", "surrogatepass")).hexdigest()
