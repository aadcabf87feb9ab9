"""Native tools: the host's own functions, called with what their type hints say."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from typing import Any

import anyio.to_thread
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, to_json

from packbelt.live.hostcode import is_its_own, told
from packbelt.model import Answer, Outcome
from packbelt.model.text import one_line

MAX_RESULT = 1 << 20
"""Bytes of a tool's result; a larger one becomes an error that says so."""


async def call_native(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Answer:
    """Call a host's function; it fails by raising, and that costs its caller one error result.

    A plain function runs in a worker thread. Where its caller is cancelled the thread cannot be stopped: what
    it does after that nobody sees.

    Args:
        function: an async or plain function; what it returns becomes text, or JSON where it is no text. It
            may also return an `Answer`.
        arguments: validated against its schema; its type hints make Python objects of them.
    """
    try:
        args, kwargs = _arguments(function).validate_python(ArgsKwargs((), dict(arguments)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return Answer.of_text(f"invalid arguments: {place}: {first['msg']}", Outcome.REJECTED)
    except Exception as error:  # noqa: BLE001 - a validator of the host's own
        return Answer.of_text(told(error), Outcome.TOOL_ERROR)
    try:
        if _is_async(function):
            result = await function(*args, **kwargs)
        else:
            call = partial(_in_thread, partial(function, *args, **kwargs))
            result = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
            if inspect.isawaitable(result):
                result = await result
    except BaseException as error:
        if not is_its_own(error):
            raise
        result = _Raised(error)
    if isinstance(result, _Raised):  # whatever a tool raises is its answer to the model
        return Answer.of_text(told(result.error), Outcome.TOOL_ERROR)
    return _answer(result)


@dataclass(frozen=True, slots=True)
class _Raised:
    error: BaseException


def _in_thread(call: Callable[[], Any]) -> Any:
    """Call it; what it raises ends neither the thread nor the loop: no person interrupts a thread."""
    try:
        return call()
    except BaseException as error:  # noqa: BLE001 - as above
        return _Raised(error)


def _answer(result: Any) -> Answer:
    if isinstance(result, Answer):
        try:
            size = len(to_json([result.content, result.structured], fallback=str))
        except ValueError:
            return Answer.of_text("its result cannot be written as JSON", Outcome.TOOL_ERROR)
        return within_limit(result, size)
    if result is None:
        return Answer(Outcome.OK)
    try:
        text = result if isinstance(result, str) else to_json(result, fallback=str).decode()
    except ValueError as error:  # pydantic's serialisation error among them: a circle, no UTF-8
        return Answer.of_text(
            f"its result cannot be written as JSON: {one_line(str(error))}", Outcome.TOOL_ERROR
        )
    return within_limit(Answer.of_text(text), len(text.encode("utf-8", "surrogatepass")))


def within_limit(answer: Answer, size: int) -> Answer:
    """The answer, or an error that says that it is too large.

    Args:
        answer: what a tool gave.
        size: its bytes.
    """
    if size <= MAX_RESULT:
        return answer
    return Answer.of_text(
        f"the result has {size:,} bytes, and the limit is {MAX_RESULT:,}; ask for less of it",
        Outcome.TOOL_ERROR,
    )


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives an awaitable and does no work of its own: a function, or `__call__`."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


@lru_cache(maxsize=1024)
def _arguments(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Reads arguments as the function's hints say, without calling it."""

    @wraps(function)
    def given(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return args, kwargs

    return TypeAdapter(given)  # type: ignore[arg-type]  # pydantic takes functions too
