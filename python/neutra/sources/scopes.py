"""What the names of a file mean: where each is bound, and which binding reaches a use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from .text import SourceFile

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *Comprehension)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (ast.If, ast.Try, *_LOOPS, ast.ExceptHandler)


@dataclass(frozen=True)
class Binding:
    """A place that gives a name its value.

    `how`: "value" (bound to the expression `value`), "loop" (to each element of it in turn), "parameter", "import",
    "definition" (of a class or function), "unknown". `unpack` are the positions within the value: a, b = 1, 2 binds b
    to (1,).
    """

    how: str
    node: ast.AST
    value: ast.expr | None = None
    unpack: tuple[int, ...] = ()


class Scopes:
    """The bindings of a file, by scope and name."""

    def __init__(self, file: SourceFile):
        self.file = file
        self.bindings: dict[ast.AST, dict[str, list[Binding]]] = {}
        self._global_names: dict[ast.AST, set[str]] = {}
        for node in ast.walk(file.tree):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._global_names.setdefault(self.scope_of(node), set()).update(node.names)
        for node in ast.walk(file.tree):
            for name, binding in _bindings_of(node):
                scope = self.scope_of(node, binding=True)
                if name in self._global_names.get(scope, ()):
                    scope = file.tree
                self.bindings.setdefault(scope, {}).setdefault(name, []).append(binding)

    def scope_of(self, node: ast.AST, binding: bool = False) -> ast.AST:
        """The scope that a node is evaluated in; with `binding`, the one in which it binds names."""
        if binding and isinstance(node, (ast.arguments, ast.comprehension)):
            return self.file.parents[node]
        child = node
        for parent in self.file.ancestors(node):
            passed = binding and isinstance(node, ast.NamedExpr) and isinstance(parent, Comprehension)
            if isinstance(parent, _SCOPES) and not passed and not _outside(parent, child):
                return parent
            child = parent
        return self.file.tree

    def lookup(self, name: str, use: ast.AST) -> tuple[ast.AST, list[Binding]]:
        """The scope in which a name that is used at `use` is bound, and its bindings there, in the file's order."""
        scope = self.scope_of(use)
        first = True
        while True:
            visible = first or not isinstance(scope, ast.ClassDef)
            if visible and name not in self._global_names.get(scope, ()) and name in self.bindings.get(scope, {}):
                return scope, sorted(self.bindings[scope][name], key=lambda binding: self.position(binding.node))
            if scope is self.file.tree:
                return scope, []
            scope, first = self.scope_of(scope), False

    def reaching(self, name: str, use: ast.AST) -> list[Binding]:
        """The bindings that a use of a name may see: one where that is certain, all that come into question where it
        isn't, none where the name is bound nowhere in this file."""
        scope, bindings = self.lookup(name, use)
        if len(bindings) < 2 or self.scope_of(use) is not scope:
            return bindings
        before = [binding for binding in bindings if self._ends_before(binding, use)]
        if not before:
            return bindings
        last = before[-1]
        around = set(self.file.ancestors(use))
        home = next(
            (node for node in self.file.ancestors(last.node) if isinstance(node, (*_BRANCHES, *_SCOPES))), scope
        )
        loops = [node for node in around if isinstance(node, _LOOPS) and node not in self.file.ancestors(last.node)]
        later = [b for b in bindings if b not in before and any(node in loops for node in self.file.ancestors(b.node))]
        in_branch = isinstance(home, _BRANCHES) and not self.in_block_of(last.node, use)
        return bindings if later or in_branch else [last]

    def _ends_before(self, binding: Binding, use: ast.AST) -> bool:
        if binding.how in ("loop", "parameter"):
            return self.position(binding.node) < self.position(use)
        return self.precedes(binding.node, use)

    def precedes(self, node: ast.AST, use: ast.AST) -> bool:
        """Does the statement of a node stand before that of a use?"""
        statement = node if isinstance(node, ast.stmt) else self.file.statement(node)
        return statement is not self.file.statement(use) and self.position(statement) < self.position(use)

    def in_block_of(self, node: ast.AST, use: ast.AST) -> bool:
        """Is the use in the block of the node's statement, or in one within it?"""
        block = self.block(self.file.statement(node))
        statements = [use, *self.file.ancestors(use)]
        return any(statement in block for statement in statements if isinstance(statement, ast.stmt))

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement is one of."""
        parent = self.file.parents[statement]
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and statement in value:
                return value
        return [statement]

    @staticmethod
    def position(node: ast.AST) -> tuple[int, int]:
        """Where a node starts, for comparisons."""
        return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

    def other_reads(self, node: ast.AST) -> list[ast.expr]:
        """Other reads of the name, attribute or entry that an expression reads."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return []
        same = ast.dump(node)
        found: list[ast.expr] = []
        for other in ast.walk(self.file.tree):
            if isinstance(other, type(node)) and other is not node and ast.dump(other) == same:
                if isinstance(node, ast.Name) and self.lookup(node.id, other)[0] is not self.lookup(node.id, node)[0]:
                    continue
                found.append(other)
        return found

    def function_of(self, node: ast.AST) -> Function | None:
        """The function around a node, if there is one; comprehensions don't count."""
        scope = self.scope_of(node)
        while isinstance(scope, Comprehension):
            scope = self.scope_of(scope)
        return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else None

    def class_of(self, function: ast.AST) -> ast.ClassDef | None:
        """The class that a method belongs to."""
        parent = self.file.parents.get(function)
        return parent if isinstance(parent, ast.ClassDef) else None

    def loops_around(self, node: ast.AST) -> list[ast.AST]:
        """Loops and comprehensions around a node within its function, the outermost first."""
        found: list[ast.AST] = []
        child = node
        for parent in self.file.ancestors(node):
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                break
            if isinstance(parent, _LOOPS) and child in parent.body:
                found.append(parent)
            if isinstance(parent, Comprehension) and not isinstance(child, ast.comprehension):
                found.extend(reversed(parent.generators))
            child = parent
        return found[::-1]

    def dotted(self, node: ast.expr) -> str | None:
        """What a name or attribute means by the file's imports: K.layers.Dense of `import keras as K` is
        "keras.layers.Dense". None where it isn't imported, or may be something else."""
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else None
        if not isinstance(node, ast.Name):
            return None
        bindings = self.lookup(node.id, node)[1]
        imports = [_imported(binding.node, node.id) for binding in bindings if binding.how == "import"]
        return imports[-1] if imports and len(imports) == len(bindings) else None


def imported_modules(tree: ast.AST) -> set[str]:
    """The modules that a file imports, as they are written."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found.add(base)
            found.update(f"{base}.{alias.name}" if base else alias.name for alias in node.names)
    return found


def names_in(node: ast.AST) -> set[str]:
    """All identifiers that occur in a node."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.keyword):
            continue
        for attribute in ("id", "name", "arg", "asname"):
            value = getattr(inner, attribute, None)
            if isinstance(value, str):
                found.add(value)
    return found


def _outside(scope: ast.AST, child: ast.AST) -> bool:
    """Is this child of a scope evaluated in the scope around it: decorators, defaults, bases, the first iterable?"""
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return child not in scope.body
    if isinstance(scope, ast.Lambda):
        return child is not scope.body
    if isinstance(scope, ast.ClassDef):
        return child not in scope.body
    return isinstance(scope, Comprehension) and child is scope.generators[0]


def _imported(node: ast.AST, name: str) -> str:
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return "." * node.level + ".".join(filter(None, (node.module, alias.name)))
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname == name:
                return alias.name
    return name


def _bindings_of(node: ast.AST) -> Iterator[tuple[str, Binding]]:
    """The names that one node binds, without those that its children bind."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(target, "value", node, node.value)
    elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
        yield from _targets(node.target, "value", node, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from _targets(node.target, "unknown", node, None)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        yield from _targets(node.target, "loop", node, node.iter)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is not None:
                yield from _targets(item.optional_vars, "unknown", node, None)
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, Binding("unknown", node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.split(".")[0], Binding("import", node)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, Binding("definition", node)
    elif isinstance(node, ast.arguments):
        every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        for argument in every:
            yield argument.arg, Binding("parameter", argument)
        for star in (node.vararg, node.kwarg):
            if star is not None:
                yield star.arg, Binding("unknown", star)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            yield from _targets(target, "unknown", node, None)


def _targets(
    target: ast.expr, how: str, node: ast.AST, value: ast.expr | None, unpack: tuple[int, ...] = ()
) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        yield target.id, Binding(how, node, value, unpack)
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = any(isinstance(element, ast.Starred) for element in target.elts)
        for place, element in enumerate(target.elts):
            inner = element.value if isinstance(element, ast.Starred) else element
            yield from _targets(inner, "unknown" if starred else how, node, value, (*unpack, place))
