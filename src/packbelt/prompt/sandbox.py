"""Templates run here: no way out of their data, no way to run for ever, no way to fill the memory.

Jinja2's sandbox keeps templates from Python's insides. It does not bound time and size, so that everything
that repeats or grows passes a `Meter`: loops, calls, filters, the operators that multiply, and all output.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache, wraps
from types import BuiltinMethodType, MethodType
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateRuntimeError, TemplateSyntaxError, Undefined
from jinja2 import UndefinedError as MissingError
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import pass_context

from packbelt.catalog.workspace import Template as Source
from packbelt.model import Code, Diagnostic, Level, Where
from packbelt.model.text import cut, one_line
from packbelt.prompt.language import CONCAT, EACH, SCALAR, restricted

STEPS = 50_000
"""Iterations, calls and filters of one section."""
SIZE = 1 << 16
"""Characters of one section, of one value in it, and of a template's source."""
SECONDS = 2.0
"""CPU seconds of one section; reached only by templates that the steps do not stop first."""
RANGE = 1000
"""The longest `range`."""
_WHOLE = 1 << 63


class BudgetError(TemplateRuntimeError):
    """A template does more, or writes more, than a section needs."""


class Meter:
    """What one rendering may still do."""

    __slots__ = ("_end", "_size", "_steps")

    def __init__(self) -> None:
        self._steps = STEPS
        self._size = SIZE
        self._end = time.thread_time() + SECONDS

    def step(self, count: int = 1) -> None:
        """Something was done.

        Raises:
            BudgetError: that was one too many.
        """
        self._steps -= count
        if self._steps < 0 or time.thread_time() > self._end:
            raise BudgetError("it takes too many steps")

    def write(self, text: str) -> str:
        """Something was written.

        Raises:
            BudgetError: there is no room for it.
        """
        self._size -= len(text)
        if self._size < 0:
            raise BudgetError(f"it writes more than {SIZE:,} characters")
        return text


_METER: ContextVar[Meter] = ContextVar("packbelt_section_meter")


def _room(size: int) -> None:
    if size > SIZE:
        raise BudgetError(f"it builds a value of more than {SIZE:,} characters or entries")


def _scalar(value: Any) -> Any:
    """A value that holds no other: what may be printed, joined or put in a list."""
    if isinstance(value, Undefined):
        return str(value)  # raises for what is missing; `x if y` without `else` is empty
    if not isinstance(value, str | int | float):
        kind = "nothing (none)" if value is None else f"a {type(value).__name__}"
        raise TemplateRuntimeError(f"it prints, joins or lists {kind} where a text or number belongs")
    return value


def _text(value: Any) -> str:
    return str(_scalar(value))


def _each(values: Iterable[Any]) -> Iterator[Any]:
    meter = _METER.get()
    for value in values:
        meter.step()
        yield value


def _concat(values: Iterable[Any]) -> str:
    texts = [_text(value) for value in values]
    _room(sum(map(len, texts)))
    return "".join(texts)


def _join(values: Iterable[Any], d: str = "") -> str:
    texts = [_text(value) for value in values]
    _room(sum(map(len, texts)) + len(d) * len(texts))
    return d.join(texts)


def _replace(value: Any, old: str, new: str) -> str:
    text = _text(value)
    _room(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


@pass_context
def _map(context: Context, values: Iterable[Any], *, attribute: str, **more: Any) -> Any:
    return FILTERS["map"](context, values, attribute=attribute, **more)


def _range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > RANGE:
        raise BudgetError(f"it counts further than {RANGE:,}")
    return numbers


def _metered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that counts as steps, more of them for a long value."""

    @wraps(function)
    def counted(*arguments: Any, **named: Any) -> Any:
        size = sum(len(value) for value in arguments if isinstance(value, str | list | tuple))
        _METER.get().step(1 + size // 256)
        return function(*arguments, **named)

    return counted


_JINJA_FILTERS = (
    "abs", "capitalize", "count", "d", "default", "first", "int", "last", "length", "list", "lower", "max",
    "min", "reject", "rejectattr", "select", "selectattr", "sort", "title", "trim", "truncate", "unique",
    "upper", "wordcount",
)  # fmt: skip
_FILTERS: Mapping[str, Callable[..., Any]] = {
    **{name: FILTERS[name] for name in _JINJA_FILTERS},
    "join": _join,
    "map": _map,
    "replace": _replace,
    "string": _text,
    EACH: _each,
    SCALAR: _scalar,
    CONCAT: _concat,
}
_STRING_METHODS = frozenset({
    "capitalize", "endswith", "lower", "removeprefix", "removesuffix", "split", "startswith", "strip",
    "title", "upper",
})  # fmt: skip
_LOOP_METHODS = frozenset({"changed", "cycle"})
_VIEW = "packbelt.prompt."


@pass_context
def _finalize(_context: Context, value: Any) -> str:
    return _METER.get().write(_text(value))


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of section templates. Attributes and calls are listed, not merely filtered."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,  # a prompt is not HTML; every text in the view is harmless already
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            finalize=_finalize,
        )
        self.filters = {name: _metered(function) for name, function in _FILTERS.items()}
        self.globals = {"range": _range}

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read this attribute."""
        if not super().is_safe_attribute(obj, attr, value):
            return False
        if isinstance(obj, str):
            return attr in _STRING_METHODS
        return isinstance(obj, LoopContext) or type(obj).__module__.startswith(_VIEW)

    def is_safe_callable(self, obj: Any) -> bool:
        """Whether a template may call this."""
        if isinstance(obj, BuiltinMethodType) and isinstance(obj.__self__, str):
            return obj.__name__ in _STRING_METHODS
        if isinstance(obj, MethodType):
            return isinstance(obj.__self__, LoopContext) and obj.__name__ in _LOOP_METHODS
        if isinstance(obj, Macro) or obj is _range:
            return True
        return getattr(type(obj), "callable_in_templates", False) is True

    def call(self, context: Context, obj: Any, /, *arguments: Any, **named: Any) -> Any:
        """Call it, if it may be called."""
        _METER.get().step()
        if isinstance(obj, Undefined):
            str(obj)  # raises, and says what is missing
        return super().call(context, obj, *arguments, **named)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An operator whose result can outgrow its operands."""
        _METER.get().step()
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if numbers:
            if max(abs(left), abs(right)) > _WHOLE or (operator == "**" and right > 64):  # noqa: PLR2004 - bits
                raise BudgetError("it calculates with numbers that are too large")
        elif operator == "+":
            _room(_length(left) + _length(right))
        elif operator == "*":
            count = next((value for value in (left, right) if isinstance(value, int)), 1)
            _room((_length(left) + _length(right)) * max(count, 1))
        elif operator == "%" and isinstance(left, str):
            raise TemplateRuntimeError("it formats with `%`, which section templates do not have; use `~`")
        return super().call_binop(context, operator, left, right)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


@lru_cache(maxsize=1)
def _environment() -> Sandbox:
    return Sandbox()


@lru_cache(maxsize=256)
def _compiled(source: Source) -> Template | Diagnostic:
    try:
        if len(source.source) > SIZE:
            raise TemplateSyntaxError(f"it is longer than {SIZE:,} characters", 1)  # noqa: TRY301 - one way to report
        environment = _environment()
        tree = restricted(environment, source.source, source.name, source.file)
        code = environment.compile(tree, source.name, source.file)
        return environment.template_class.from_code(environment, code, environment.globals)
    except Exception as error:  # noqa: BLE001 - whatever a broken template makes parser and compiler raise
        line = error.lineno if isinstance(error, TemplateSyntaxError) else 0
        problem = error.message if isinstance(error, TemplateSyntaxError) else _plain(error)
        return _broken(source, f"does not compile: {problem}", line, "mend its syntax")


def render(source: Source, data: Mapping[str, Any]) -> str | Diagnostic:
    """What a template makes of the data, or what is wrong with it. Never raises, and always ends."""
    template = _compiled(source)
    if isinstance(template, Diagnostic):
        return template
    token = _METER.set(Meter())
    try:
        return "".join(template.root_render_func(template.new_context(dict(data))))
    except Exception as error:  # noqa: BLE001 - whatever a template makes the data raise; it costs one section
        return _broken(source, f"failed: {_plain(error)}", _line(template, error), _mend(error, data))
    finally:
        _METER.reset(token)


def _plain(error: Exception) -> str:
    if isinstance(error, RecursionError | MemoryError):
        return "it nests or recurses too deeply"
    return str(error) or type(error).__name__


def _mend(error: Exception, data: Mapping[str, Any]) -> str:
    match error:
        case BudgetError() | RecursionError():
            return "let it do less"
        case SecurityError():
            return "use only the data that sections are given"
        case MissingError():
            return f"sections are given {', '.join(sorted(data))}"
    return "mend the expression"


def _line(template: Template, error: Exception) -> int:
    """The template's line at which an error came up; 0 if it came up outside of it."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == template.filename:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _broken(source: Source, problem: str, line: int | None, mend: str) -> Diagnostic:
    message = cut(one_line(f"section template {source.name!r} {problem}"), 400)
    where = Where(source.file, line or 0)
    return Diagnostic(Level.ERROR, Code.TEMPLATE_BROKEN, message, where, mend, source.name)
