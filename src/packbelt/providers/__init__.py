"""A belt as one target's request form: plain data, and no SDK imported.

`compile_belt(belt, "anthropic")` gives a `Form`: what the target's call takes, the table of names, how its
replies are read and results written, and an `Enforcement` that says, axis by axis, what the target itself
enforces, what packbelt adds, and what stays open.
"""

from packbelt.providers.builtins import with_builtins
from packbelt.providers.compile import compile_belt
from packbelt.providers.form import Enforcement, Form, ResidueError
from packbelt.providers.names import CompileError, Names
from packbelt.providers.target import TARGETS, Axis, Cell, Target, TargetError, target

__all__ = [
    "TARGETS",
    "Axis",
    "Cell",
    "CompileError",
    "Enforcement",
    "Form",
    "Names",
    "ResidueError",
    "Target",
    "TargetError",
    "compile_belt",
    "target",
    "with_builtins",
]
