"""The targets whose form can be built here; one that comes later joins by itself."""

from importlib.resources import files
from importlib.util import find_spec

from packbelt.providers import TARGETS, compile_belt
from packbelt.providers.compile import _MODULES

BUILT = [
    name
    for name in TARGETS
    if find_spec(f"packbelt.providers.{_MODULES[name]}")
    and files("packbelt.providers").joinpath("targets", f"{name}.toml").is_file()
]
APIS = ("anthropic", "openai", "openai-chat", "gemini")
SEARCHING = ("anthropic", "openai")


def sent(form):
    """Wire names of the tools that the target's model sees, in order."""
    return [form.names.unspell(name) for name in form.enforcement.plan]


def lenient(belt, name, **options):
    return compile_belt(belt, name, strict=False, **options)


def left_out(form):
    """Wire names of the tools that were left out."""
    return {one.name for one in form.diagnostics if one.message.endswith("it is left out")}
