"""Section templates: `prompts/sections/*.j2`. Only read here; what they say is the prompt's business."""

from packbelt.catalog.text import Tree
from packbelt.catalog.workspace import Template
from packbelt.model import Code, Diagnostic, Level, Origin, PackbeltError

FOLDER = "prompts/sections"
SUFFIX = ".j2"


def read_templates(tree: Tree, origin: Origin) -> tuple[dict[str, Template], dict[str, Diagnostic]]:
    """A directory's templates by name, and for each that cannot be read what is wrong with it."""
    templates: dict[str, Template] = {}
    broken: dict[str, Diagnostic] = {}

    def report(name: str, problem: PackbeltError) -> None:
        message = f"section template {name!r} {problem.problem}"
        broken[name] = Diagnostic(
            Level.ERROR, Code.TEMPLATE_BROKEN, message, problem.where, problem.mend, name
        )

    try:
        listing = tree.find(tree.root / FOLDER, SUFFIX)
    except PackbeltError as problem:
        report(FOLDER, problem)
        return templates, broken
    for path in listing.files:
        try:
            templates[path.stem] = Template(path.stem, tree.read(path), tree.name(path), origin)
        except PackbeltError as problem:
            report(path.stem, problem)
    return templates, broken
