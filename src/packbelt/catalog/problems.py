"""What pydantic found wrong, as one line with file, line, key and mend."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from packbelt.catalog.near import listed, nearest
from packbelt.catalog.yaml import Document, Path
from packbelt.model import PackbeltError, WorkspaceError

M = TypeVar("M", bound=BaseModel)

_KINDS = {
    "dict": "a mapping",
    "list": "a list",
    "str": "text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "NoneType": "empty",
}
_WANTED = {
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
}


def kind_of(value: object) -> str:
    """What a value is, for people."""
    return _KINDS.get(type(value).__name__, type(value).__name__)


def read_model(
    model: type[M],
    document: Document,
    *,
    at: Path = (),
    data: Any = None,
    error: type[PackbeltError] = WorkspaceError,
) -> M:
    """A part of a document as a model.

    Args:
        model: the shape.
        document: the file.
        at: the path of the part in it.
        data: the part; None stands for the whole document's data.
        error: what is raised.

    Raises:
        PackbeltError: the first thing that is wrong, unknown keys before others.
    """
    part = document.data if data is None and not at else data
    if not isinstance(part, Mapping):
        what = f"`{dotted(at)}`" if at else "the file"
        problem = f"{what} is {kind_of(part)}, not a mapping"
        raise error(problem, where=document.where(*at), mend="write `key: value` lines")
    try:
        return model.model_validate(part)
    except ValidationError as found:
        raise _explain(found, model, document, at, error) from None


def null_list(
    key: str, document: Document, *path: str | int, error: type[PackbeltError] = WorkspaceError
) -> PackbeltError:
    """The error of a key without a value where a list is expected: absent and empty are two things."""
    return error(
        f"`{key}` has no value", where=document.where(*path), mend="write [] or remove the key", name=key
    )


def dotted(path: Sequence[str | int]) -> str:
    """A path for people: `servers.github.tools`, `tools[2]`."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _explain(
    found: ValidationError, model: type[BaseModel], document: Document, at: Path, error: type[PackbeltError]
) -> PackbeltError:
    details = found.errors(include_url=False)

    def rank(detail: ErrorDetails) -> tuple[bool, int]:
        return detail["type"] != "extra_forbidden", document.where(*at, *detail["loc"]).line

    first = min(details, key=rank)
    problem, mend = _sentence(first, model, at)
    if len(details) > 1:
        mend += f" (and {len(details) - 1} more in this file)"
    path = (*at, *first["loc"])
    return error(problem, where=document.where(*path), mend=mend, name=str(path[-1]) if path else "")


def _sentence(detail: ErrorDetails, model: type[BaseModel], at: Path) -> tuple[str, str]:
    loc, kind, value = detail["loc"], detail["type"], detail["input"]
    key = dotted((*at, *loc))
    context: Mapping[str, Any] = detail.get("ctx") or {}
    if kind == "extra_forbidden":
        return _unknown_key(str(loc[-1]), key, _model_at(model, loc[:-1]))
    if kind == "missing":
        return f"the key `{key}` is missing", f"add `{loc[-1]}:`"
    if value is None:
        mend = "write [] or remove the key" if kind == "list_type" else "give it a value or remove the key"
        return f"`{key}` has no value", mend
    if kind == "list_type" and isinstance(value, str):
        return f"`{key}` is text, not a list", f"write [{value}]"
    if kind == "string_type" and isinstance(value, int | float | bool):
        return f"`{key}` is {kind_of(value)}, not text", "put it in quotes"
    if kind in _WANTED:
        return f"`{key}` is {kind_of(value)}, not {_WANTED[kind]}", f"write {_WANTED[kind]}"
    if kind == "literal_error":
        words = str(context.get("expected", "")).replace("'", "").replace(" or ", ", ").split(", ")
        near = nearest(value, words) if isinstance(value, str) else ""
        return (
            f"`{key}` is {value!r}",
            f"did you mean {near!r}?" if near else f"write one of {', '.join(words)}",
        )
    if kind == "greater_than":
        return f"`{key}` is {value}", f"write a number above {context.get('gt')}"
    if kind == "string_too_short":
        return f"`{key}` is empty", "give it a value"
    return f"`{key}`: {detail['msg']}", "mend the value"


def _unknown_key(name: str, key: str, model: type[BaseModel] | None) -> tuple[str, str]:
    fields = tuple(model.model_fields) if model else ()
    if name == "origin":
        return f"unknown key `{key}`", "remove it: where a file was found is its origin"
    near = nearest(name, fields)
    return f"unknown key `{key}`", f"did you mean {near!r}?" if near else f"known keys are {listed(fields)}"


def _model_at(model: type[BaseModel], parents: Sequence[str | int]) -> type[BaseModel] | None:
    """The model that the last of these parents names."""
    current: type[BaseModel] | None = model
    skip = False
    for part in parents:
        if skip:
            skip = False
        elif current is not None and isinstance(part, str) and part in current.model_fields:
            annotation = current.model_fields[part].annotation
            skip = get_origin(annotation) in (dict, list)
            current = _inner(annotation)
    return current


def _inner(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_inner(argument) for argument in get_args(annotation))
    return next((model for model in found if model is not None), None)
