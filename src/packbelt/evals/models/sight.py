"""What a model can see: read from the request alone, as any model must."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packbelt.belt.arguments import parse, sample
from packbelt.belt.search import Postings
from packbelt.catalog.forms import native_tool
from packbelt.evals.models.model import Request
from packbelt.model import NATIVE

_PACK = re.compile(r"^- (\S+): (.*)$", re.MULTILINE)
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_NAMED = re.compile(r"`([A-Za-z0-9_-]+)`(?! with pack )")
_INSIDE = re.compile(r"with pack `[^`]*`(?: and tool `[^`]*`)?")
_BLOCK = re.compile(r"^([A-Za-z0-9_.-]+)(?:: (.*))?\n(\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Seen:
    """A tool that a model was shown.

    Attributes:
        name: its name.
        description: its text.
        schema: the schema of its arguments.
        pack: the pack in whose listing it stands; None for one that is advertised.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    pack: str | None = None


class Sight:
    """What one request shows.

    Args:
        request: the request.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        functions = [tool["function"] for tool in request.tools]
        self.advertised = {
            one["name"]: Seen(one["name"], one.get("description", ""), one.get("parameters", {}))
            for one in functions
        }
        self.opener = next((one for one in self.advertised.values() if _opens(one.schema)), None)

    @property
    def packs(self) -> dict[str, str]:
        """Id and summary of the packs that can be opened, as the opener names them: at once or when asked."""
        asked = (self.answers.get(identity, "") for identity, pack in self._openings if not pack)
        texts = [self.opener.description, *asked] if self.opener else []
        return {pack: said for text in texts for pack, said in _PACK.findall(text)}

    @cached_property
    def answers(self) -> dict[str, str]:
        """What came back, by the id of the call."""
        results = (one for one in self.request.messages if one.get("role") == "tool")
        return {one["tool_call_id"]: _text(one.get("content")) for one in results}

    @cached_property
    def calls(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Id, name and arguments of the calls that were made, in order."""
        made = [call for one in self.request.messages for call in one.get("tool_calls") or ()]
        return [
            (one["id"], one["function"]["name"], parse(one["function"]["arguments"]) or {}) for one in made
        ]

    @property
    def opened(self) -> list[str]:
        """The packs that were opened, in order."""
        name = self.opener.name if self.opener else None
        return [
            given.get("pack", "") for _, called, given in self.calls if called == name and "tool" not in given
        ]

    @cached_property
    def listed(self) -> dict[str, Seen]:
        """The tools that stand in the listings of the packs that were opened."""
        found: dict[str, Seen] = {}
        for identity, pack in self._openings:
            for tool, text, schema in _BLOCK.findall(self.answers.get(identity, "")):
                found.setdefault(tool, Seen(tool, text, json.loads(schema), pack))
        return found

    @cached_property
    def _openings(self) -> list[tuple[str, str]]:
        """Id and pack of the calls that opened one, in order."""
        name = self.opener.name if self.opener else None
        opened = (one for one in self.calls if one[1] == name and "tool" not in one[2])
        return [(identity, given.get("pack", "")) for identity, _, given in opened]

    @property
    def last_answer(self) -> str:
        """What the last call was answered with."""
        return self.answers.get(self.calls[-1][0], "") if self.calls else ""

    def named_under(self, heading: str) -> list[str]:
        """The tools that a section of the prompt names to be called as such, in order.

        Args:
            heading: of the section, without its `##`.
        """
        system = "\n".join(_text(one.get("content")) for one in self.request.messages[:1])
        _, *parts = _HEADING.split(system)
        under = zip(parts[::2], parts[1::2], strict=True)
        text = "\n".join(part for title, part in under if title == heading)
        return _NAMED.findall(_INSIDE.sub("", text))

    def known(self, name: str) -> Seen:
        """A tool as it is advertised, or by its name alone where it is not."""
        return self.advertised.get(name) or Seen(name, "", {})

    def nearest_packs(self, said: str) -> list[str]:
        """The packs not yet opened that fit some words, best first."""
        left = [Seen(pack, text, {}) for pack, text in self.packs.items() if pack not in self.opened]
        return [one.name for one in ranked(left, said, len(left))]


def ranked(tools: Iterable[Seen], said: str, limit: int = 1) -> list[Seen]:
    """The tools that fit some words, best first by BM25; none that shares no word with them."""
    among = list(tools)
    known = [native_tool(NATIVE, one.name, one.description, {"type": "object"}) for one in among]
    return [among[i] for i in Postings(known).search(said, (1 << len(among)) - 1, limit)]


def arguments_for(tool: Seen, request: str) -> dict[str, Any]:
    """The smallest arguments that fit, the request where a hand-off takes one."""
    made = sample(tool.schema) or {}
    return {**made, "request": request} if "request" in tool.schema.get("properties", {}) else made


def _opens(schema: Mapping[str, Any]) -> bool:
    return {"pack", "tool", "arguments"} <= set(schema.get("properties", {}))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or () if isinstance(part, Mapping))
