"""Python callables as native tools: schema from the type hints, description from the docstring."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from packbelt.catalog.forms import native_tool, schema_problem
from packbelt.model import NATIVE, Permission, Tool, Where, WorkspaceError
from packbelt.model.wire import plain_name_problem

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE = "__packbelt_tool__"
_DEFINED = "__packbelt_definition__"


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """What a callable says of itself as a tool; None where it says nothing."""

    name: str | None = None
    description: str | None = None
    permission: Permission | None = None
    approve: bool = False


def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    permission: Permission | str | None = None,
    approve: bool = False,
) -> Callable[[F], F]:
    """Mark a function as a tool with a name, description or permission of its own.

    Args:
        name: the tool's name; default the function's.
        description: default the first paragraph of the docstring.
        permission: what a call needs; default `read`.
        approve: whether a person must approve each call.

    Raises:
        WorkspaceError: the permission is no level.
    """
    level = permission
    if isinstance(level, str):
        try:
            level = Permission.parse(level)
        except KeyError:
            words = ", ".join(str(each) for each in Permission)
            raise WorkspaceError(f"{permission!r} is no permission", mend=f"write one of {words}") from None
    options = ToolOptions(name, description, level, approve)

    def mark(function: F) -> F:
        setattr(function, _ATTRIBUTE, options)
        return function

    return mark


def defined(
    call: F,
    *,
    name: str,
    description: str,
    input_schema: Mapping[str, Any],
    permission: Permission | str | None = None,
    approve: bool = False,
) -> F:
    """Mark a callable as a tool that is defined elsewhere: its own name, description and schema count.

    Args:
        call: what is called, with the arguments by name.
        name: the tool's name.
        description: the tool's description.
        input_schema: its JSON Schema; calls are validated against it.
        permission: what a call needs; default `read`.
        approve: whether a person must approve each call.

    Raises:
        WorkspaceError: the permission is no level. Name and schema are looked at by `load`.
    """
    mark = tool(name=name, description=description, permission=permission, approve=approve)(call)
    setattr(mark, _DEFINED, input_schema)
    return mark


def read_natives(
    given: Iterable[Callable[..., Any] | Tool],
) -> tuple[dict[str, Tool], dict[str, Callable[..., Any]]]:
    """The host's tools by name, and the callables behind them.

    Raises:
        WorkspaceError: one cannot be a tool, or two have one name.
    """
    tools: dict[str, Tool] = {}
    handlers: dict[str, Callable[..., Any]] = {}
    for each in given:
        made = _checked(each) if isinstance(each, Tool) else tool_from_callable(each)
        if other := tools.get(made.name):
            raise WorkspaceError(
                f"two tools are called {made.name!r}, the other at {other.where or 'an unknown place'}",
                where=made.where,
                mend="rename one of them",
                name=made.name,
            )
        tools[made.name] = made
        if not isinstance(each, Tool):
            handlers[made.name] = each
    return tools, handlers


def tool_from_callable(function: Callable[..., Any]) -> Tool:
    """The native tool that a function is.

    Raises:
        WorkspaceError: it has no usable name, a parameter cannot be passed by name or has no type hint, or a
            hint has no JSON Schema.
    """
    options: ToolOptions = getattr(function, _ATTRIBUTE, ToolOptions())
    name = options.name or str(getattr(function, "__name__", ""))
    where = _where(function)
    if problem := plain_name_problem(name):
        mend = f"{problem}; give one with @packbelt.tool(name=...)"
        raise WorkspaceError(
            f"{name or repr(function)!r} is no tool's name", where=where, mend=mend, name=name
        )
    description = options.description
    if description is None:
        paragraph = (inspect.getdoc(function) or "").split("\n\n", 1)[0]
        description = " ".join(paragraph.split())
    given: Mapping[str, Any] | None = getattr(function, _DEFINED, None)
    schema = _schema(function, name, where) if given is None else given
    if problem := schema_problem(schema):
        mend = "change its hints" if given is None else "change its schema"
        raise WorkspaceError(f"tool {name!r} cannot be used: {problem}", where=where, mend=mend, name=name)
    return native_tool(
        NATIVE,
        name,
        description,
        schema,
        permission=Permission.READ if options.permission is None else options.permission,
        approve=options.approve,
        where=where,
    )


def _checked(given: Tool) -> Tool:
    if given.id.source != NATIVE or plain_name_problem(given.name) or given.wire_name != given.name:
        raise WorkspaceError(
            f"{given.id} is no native tool",
            where=given.where,
            mend="give a tool whose source is native and whose wire name is its name",
            name=given.name,
        )
    return given


def _schema(function: Callable[..., Any], name: str, where: Where | None) -> dict[str, Any]:
    from pydantic import PydanticUserError, TypeAdapter  # noqa: PLC0415 - the decorator above stays light
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 - as above

    class Untitled(GenerateJsonSchema):
        """Titles only repeat the names, and every one of them costs tokens."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            del schema
            return False

    def refuse(problem: str, mend: str) -> WorkspaceError:
        return WorkspaceError(f"tool {name!r}: {problem}", where=where, mend=mend, name=name)

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise refuse("its signature is unknown", "wrap it in a function") from None
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise refuse(f"{parameter} cannot be passed by name", "write named parameters only")
        if parameter.annotation is parameter.empty:
            raise refuse(f"parameter {parameter.name!r} has no type hint", "add one")
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(function)  # type: ignore[arg-type]  # pydantic takes functions too
        schema = adapter.json_schema(schema_generator=Untitled)
    except (PydanticUserError, NameError, TypeError) as problem:
        first = str(problem).splitlines()[0]
        raise refuse(f"its type hints have no JSON Schema: {first}", "use plainer hints") from None
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


def _where(function: Callable[..., Any]) -> Where | None:
    """File name and line; never the directory, which is the machine's own business."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Where(Path(code.co_filename).name, code.co_firstlineno) if code else None
