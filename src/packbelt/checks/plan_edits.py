"""A plan in the workspace's own files: the smallest edits of their text, comments and all else kept."""

import difflib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from packbelt.catalog.front_matter import FENCE
from packbelt.catalog.workspace import Pack, Workspace
from packbelt.catalog.yaml import parse_yaml
from packbelt.checks.plan_answer import Plan, PlanError
from packbelt.model import Exposure, PackbeltError, Where


@dataclass(frozen=True, slots=True)
class Edit:
    """One file before and after.

    Attributes:
        file: its path in the workspace.
        before: its text, with the ends of lines that it has.
        after: the same as planned.
    """

    file: str
    before: str
    after: str


def edits(workspace: Workspace, plan: Plan) -> tuple[Edit, ...]:
    """What a plan changes in a workspace's files, in the order of their paths.

    Raises:
        PlanError: a file is written in a form that is not edited.
    """
    found = []
    for pack_id, direct in plan.direct.items():
        pack = workspace.packs[pack_id]
        found.append(_edit(workspace.root, pack.file, partial(_pack, pack, direct)))
    for agent, names in plan.named.items():
        file = workspace.agents[agent].file
        found.append(_edit(workspace.root, file, partial(_agent, names, file)))
    return tuple(sorted(found, key=lambda one: one.file))


def patch(found: Sequence[Edit]) -> str:
    """Edits as one unified patch that `git apply` takes in the workspace's directory."""
    return "".join(line for one in found for line in _hunks(one))


def _hunks(one: Edit) -> Iterator[str]:
    before, after = (list(io.StringIO(text, newline="\n")) for text in (one.before, one.after))
    lines = difflib.unified_diff(before, after, f"a/{one.file}", f"b/{one.file}")
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _edit(root: Path, file: str, change: Callable[[str], str]) -> Edit:
    real = (root / file).resolve()  # a link stays one: what it leads to is edited
    file = real.relative_to(root.resolve()).as_posix()
    with real.open(encoding="utf-8", newline="") as handle:
        before = handle.read()
    if "\r" in before.replace("\r\n", ""):
        raise _unknown(file, "its lines end in carriage returns")
    return Edit(file, before, change(before))


def _pack(pack: Pack, direct: frozenset[str], text: str) -> str:
    """A pack's file with another `direct` list."""
    names = [name for name in pack.members if name in direct]
    after, means = text, {"direct": names}
    if pack.exposure is Exposure.DIRECT:
        # All of it was sent: what is to be put away needs the list of what is not.
        after = _scalar(text, "exposure", Exposure.PACKED, pack.file)
        means["exposure"] = [str(Exposure.PACKED)]
    return _proved(text, _list(after, "direct", names, pack.file, before="tools"), means, pack.file)


def _agent(names: Sequence[str], file: str, text: str) -> str:
    """An agent's file whose `tools` name further tools."""
    end = next((i for i, line in enumerate(text.split("\n")) if i and line.rstrip() == FENCE), 0)
    lines = text.split("\n")
    head, front, rest = lines[0] + "\n", "\n".join(lines[1:end]) + "\n", "\n".join(lines[end:])
    had = [one.value for one in _node(front, "tools", file).value]
    tools = [*had, *(n for n in names if n not in had)]
    return head + _proved(front, _list(front, "tools", tools, file), {"tools": tools}, file) + rest


def _proved(before: str, after: str, means: Mapping[str, Sequence[str]], file: str) -> str:
    """An edited document, where it says what it should under the keys that were edited, and else what it did.

    Raises:
        PlanError: it does not; the document is written in a form that the edits do not fit.
    """
    try:
        was, now = _said(before, file), _said(after, file)
    except PackbeltError:
        raise _unknown(file, "what was made of it would not load") from None
    same = all(_set(now, key) == set(names) for key, names in means.items())
    if not same or {**was, **dict.fromkeys(means)} != {**now, **dict.fromkeys(means)}:
        raise _unknown(file, "its lists stand in a form that is not known")
    return after


def _said(text: str, file: str) -> dict[str, Any]:
    data = parse_yaml(text.removeprefix("\ufeff").replace("\r\n", "\n"), file).data
    return data if isinstance(data, dict) else {}


def _set(data: Mapping[str, Any], key: str) -> set[str]:
    """What stands under a key, be it a word or a list of them."""
    found = data.get(key, [])
    return set(map(str, found)) if isinstance(found, list) else {str(found)}


def _list(text: str, key: str, wanted: Sequence[str], file: str, before: str = "") -> str:
    """YAML with another list of names under a key of its top; entries that stay are not touched.

    Args:
        text: the document.
        key: the key.
        wanted: the names, in the order in which new ones are added.
        file: its name in messages.
        before: the key before which the list is put where there is none.
    """
    pairs = _pairs(text, file)
    if key not in pairs and not wanted:
        return text
    if key not in pairs:
        start = pairs[before][0].start_mark.index
        words = ", ".join(map(_word, wanted))
        return f"{text[:start]}{key}: [{words}]{_end_of_line(text)}{text[start:]}"
    name, node = pairs[key]
    if not isinstance(node, yaml.SequenceNode):
        raise _unknown(file, f"`{key}` is no list")
    if not wanted:
        # A block's own end is where the next key begins: comments may stand between.
        last = node.value[-1] if node.value and not node.flow_style else node
        return _without_lines(text, name.start_mark.index, last.end_mark.index)
    fresh = [each for each in wanted if each not in {one.value for one in node.value}]
    if fresh:  # before others go: so that the list always keeps an entry
        text = _with(text, node, fresh)
    for _ in [one for one in node.value if one.value not in wanted]:
        node = _node(text, key, file)
        text = _without(text, [one for one in node.value if one.value not in wanted][-1], node)
    return text


def _word(name: str) -> str:
    """A name as YAML has it: in quotes where it would be a number, or a word of YAML's own."""
    return name if name[0].isalpha() and yaml.safe_load(name) == name else f"'{name}'"


def _without(text: str, entry: yaml.Node, node: yaml.SequenceNode) -> str:
    """Without one entry of a list that keeps another."""
    place = node.value.index(entry)
    start, end = entry.start_mark.index, entry.end_mark.index
    if not node.flow_style:
        return _without_lines(text, start, end)
    if place + 1 < len(node.value):
        return text[:start] + text[node.value[place + 1].start_mark.index :]
    return text[: node.value[place - 1].end_mark.index] + text[end:]


def _with(text: str, node: yaml.SequenceNode, names: Sequence[str]) -> str:
    """With further entries at the end of a list."""
    if node.flow_style:
        place = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        return text[:place] + (", " if node.value else "") + ", ".join(map(_word, names)) + text[place:]
    last = node.value[-1]
    dash = text.rindex("-", 0, last.start_mark.index)
    indent = text[text.rfind("\n", 0, dash) + 1 : dash]
    end, stop = text.find("\n", last.end_mark.index), _end_of_line(text)
    added = "".join(f"{indent}- {_word(name)}{stop}" for name in names)
    if end < 0:
        return text + stop + added.removesuffix(stop)
    return text[: end + 1] + added + text[end + 1 :]


def _without_lines(text: str, start: int, end: int) -> str:
    """Without the lines from one place to another, both whole."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", max(start, end - 1))
    return text[:first] + (text[last + 1 :] if last >= 0 else "")


def _scalar(text: str, key: str, value: str, file: str) -> str:
    node = _pairs(text, file)[key][1]
    return text[: node.start_mark.index] + value + text[node.end_mark.index :]


def _node(text: str, key: str, file: str) -> yaml.SequenceNode:
    found = _pairs(text, file).get(key, (None, None))[1]
    if not isinstance(found, yaml.SequenceNode):
        raise _unknown(file, f"`{key}` is no list")
    return found


def _pairs(text: str, file: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Key and value of each entry at the top, with their places."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise _unknown(file, "it is not written with a key on each line")
    return {key.value: (key, value) for key, value in root.value}


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unknown(file: str, why: str) -> PlanError:
    return PlanError(f"cannot be edited: {why}", where=Where(file), mend="write it with a key on each line")


__all__ = ["Edit", "edits", "patch"]
