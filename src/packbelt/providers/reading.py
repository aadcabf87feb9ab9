"""Replies as objects of an SDK or as JSON, read alike; results as the parts that an API takes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from packbelt.model import ToolResult


def get(value: Any, key: str, default: Any = None) -> Any:
    """An attribute of an object, or an entry of a mapping; the default where it is None."""
    found = value.get(key, default) if isinstance(value, Mapping) else getattr(value, key, default)
    return default if found is None else found


def items(value: Any, key: str) -> Iterable[Any]:
    """The entries of a list, none where there is none; a text is no list."""
    found = get(value, key, ())
    return () if isinstance(found, str) else found


def parts(result: ToolResult, images: Collection[str]) -> list[str | Mapping[str, Any]]:
    """A result in the order in which its tool gave it: texts, and image blocks of the types that are taken.

    What else there is, and every image of an error, is said in words.

    Args:
        result: a call's result.
        images: media types of the images that the API takes in a result.
    """
    blocks = result.answer.content
    if result.is_error or not any(_is_image(block, images) for block in blocks):
        return [result.text]
    made: list[str | Mapping[str, Any]] = []
    for block in blocks:
        if _is_image(block, images):
            made.append(block)
        elif text := replace(result.answer, content=(block,)).text:  # an empty text is refused by some
            made.append(text)
    return made


def _is_image(block: Mapping[str, Any], images: Collection[str]) -> bool:
    return block.get("type") == "image" and block.get("mimeType") in images
