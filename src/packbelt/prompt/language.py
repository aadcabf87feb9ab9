"""The language of section templates: the part of Jinja2 whose cost and reach can be bounded.

Templates have text, `if`, `for`, `set`, `with`, macros and expressions; nothing that reads another file,
nothing that builds nested structures, no recursion by loops. Text becomes an expression, so that all output
passes one meter; each loop, `~` and literal is wrapped so that it passes it too.
"""
# ruff: noqa: N802 - Jinja2's visitor finds its methods by the names of the node classes

from typing import TypeVar

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.visitor import NodeTransformer

EACH, SCALAR, CONCAT = "_each", "_scalar", "_concat"
"""Filters that the transformation puts in; the sandbox defines them."""

_WORDS: dict[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.CallBlock: "call",
    nodes.FilterBlock: "filter",
    nodes.NSRef: "set x.y",
    nodes.Dict: "a literal {...}",
    nodes.ScopedEvalContextModifier: "autoescape",
}
_KNOWN: frozenset[type[nodes.Node]] = frozenset(
    {
            nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign,
            nodes.AssignBlock, nodes.Macro, nodes.With, nodes.Scope, nodes.Name, nodes.Const, nodes.Tuple,
            nodes.List, nodes.Slice, nodes.Getattr, nodes.Getitem, nodes.Call, nodes.Keyword, nodes.Filter,
            nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
            nodes.Concat, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow,
            nodes.Neg, nodes.Pos,
    }
)  # fmt: skip
_RESERVED = frozenset({"self", "super", "caller", "varargs", "kwargs"})

L = TypeVar("L", nodes.List, nodes.Tuple)


def restricted(environment: Environment, source: str, name: str, file: str) -> nodes.Template:
    """The syntax tree of a template, checked and metered.

    Raises:
        TemplateSyntaxError: it does not parse, or uses what section templates do not have.
    """
    tree = environment.parse(source, name, file)
    for node in (tree, *tree.find_all(nodes.Node)):
        problem = _problem(node)
        if problem:
            raise TemplateSyntaxError(problem, node.lineno or 1, name, file)
    _Metered().visit(tree)
    tree.set_environment(environment)
    return tree


def _problem(node: nodes.Node) -> str:
    if type(node) not in _KNOWN:
        word = _WORDS.get(type(node), type(node).__name__.lower())
        return f"it uses `{word}`, which section templates do not have"
    if isinstance(node, nodes.For) and node.recursive:
        return "it uses `recursive`, which section templates do not have"
    if isinstance(node, nodes.Name) and node.name in _RESERVED:
        return f"it uses `{node.name}`, which section templates do not have"
    return ""


def _through(name: str, node: nodes.Node) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Metered(NodeTransformer):
    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        self.generic_visit(node)
        node.nodes = [
            nodes.Const(child.data, lineno=child.lineno) if isinstance(child, nodes.TemplateData) else child
            for child in node.nodes
        ]
        return node

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _through(EACH, node.iter)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _through(CONCAT, nodes.List(node.nodes, lineno=node.lineno))

    def visit_List(self, node: nodes.List) -> nodes.Node:
        return self._scalars(node)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        return self._scalars(node) if node.ctx == "load" else self.generic_visit(node)

    def _scalars(self, node: L) -> L:
        self.generic_visit(node)
        node.items = [_through(SCALAR, item) for item in node.items]
        return node
