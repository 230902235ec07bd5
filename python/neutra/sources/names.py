"""How a file calls what a framework has: by its imports, or by one that is added."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator

from .calls import At
from .edits import Edits
from .reasons import CannotChange
from .scopes import Scopes
from .text import SourceFile, Span

#: Packages that hold the same Keras.
KERAS = ("tensorflow.keras", "keras", "tensorflow.python.keras", "tf_keras")


class Names:
    """The imported names of one file."""

    def __init__(self, file: SourceFile, scopes: Scopes):
        self.file = file
        self.scopes = scopes

    def expression(self, use: ast.AST, module: str, name: str, edits: Edits) -> str:
        """How `name` of a framework's module ("torch.nn", "tensorflow.keras.optimizers") is written at a place. Where
        nothing that is imported leads to it, an import is added to `edits`. Raises CannotChange where the name means
        something else there."""
        target = f"{module}.{name}"
        direct = [local for local, meaning in self._visible(use) if meaning == target]
        if direct:
            return direct[0]
        beside = self._imports_from(module, use)
        through = [(meaning, local) for local, meaning in self._visible(use) if target.startswith(meaning + ".")]
        if through:
            meaning, local = max(through, key=lambda pair: len(pair[0]))
            if beside is None or meaning == module:
                return local + target[len(meaning) :]
        if self.scopes.lookup(name, use)[1]:
            raise CannotChange(f"{name} would have to be imported, but means something else here", At(self.file, use))
        if beside is not None:
            whole = self.file.span(beside)
            ends = [t.span.end for t in self.file.tokens if t.kind == tokenize.NAME and t.span.end <= whole.end]
            edits.add(self.file, Span(ends[-1], ends[-1]), f", {name}")
        else:
            self._add_import(f"from {module} import {name}", module, use, edits)
        return name

    def root(self, use: ast.AST) -> str | None:
        """Which Keras the file imports: that of the expression at `use`, else the first that is imported; None where it
        imports none."""
        if isinstance(use, ast.expr):
            dotted = self.scopes.dotted(use)
            for root in KERAS:
                if dotted and dotted.startswith(root + "."):
                    return root
        for _, meaning in self._every():
            for root in KERAS:
                if meaning == root or meaning.startswith(root + "."):
                    return root
        return "tensorflow.keras" if any(m.split(".")[0] == "tensorflow" for _, m in self._every()) else None

    def _every(self) -> Iterator[tuple[str, str]]:
        """The names that the file imports at its top, with what they mean."""
        for name in self.scopes.bindings.get(self.file.tree, {}):
            for binding in self.scopes.bindings[self.file.tree][name]:
                if binding.how == "import":
                    yield name, _meaning(binding.node, name)

    def _visible(self, use: ast.AST) -> Iterator[tuple[str, str]]:
        """The imported names that mean at `use` what the file's top imports."""
        for name, meaning in self._every():
            scope, bindings = self.scopes.lookup(name, use)
            if scope is self.file.tree and all(b.how == "import" for b in bindings) and len(bindings) == 1:
                yield name, meaning

    def _imports_from(self, module: str, use: ast.AST) -> ast.ImportFrom | None:
        """An import of other names from the same module, at the top of the file, on one line and without a star."""
        for node in self.file.tree.body:
            before = node.lineno < getattr(use, "lineno", 0)
            same = isinstance(node, ast.ImportFrom) and node.module == module and node.level == 0
            if before and same and isinstance(node, ast.ImportFrom) and node.names[0].name != "*":
                return node
        return None

    def _add_import(self, line: str, module: str, use: ast.AST, edits: Edits) -> None:
        """Behind the last import of the same package at the top of the file, else behind the last import there, else
        behind the docstring."""
        root = module.split(".")[0]
        last: ast.stmt | None = None
        of_root: ast.stmt | None = None
        for number, node in enumerate(self.file.tree.body):
            if node.lineno >= getattr(use, "lineno", 0):
                break
            docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, (ast.Import, ast.ImportFrom)) or docstring:
                last = node
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == root:
                of_root = node
            if isinstance(node, ast.Import) and any(alias.name.split(".")[0] == root for alias in node.names):
                of_root = node
        add_line(self.file, of_root or last, line, edits)


def add_line(file: SourceFile, after: ast.stmt | None, line: str, edits: Edits) -> None:
    """Adds a line behind a statement at the top of a file, or in front of all that isn't a comment."""
    if after is None:
        number = 1
        while number <= len(file.lines) and file.lines[number - 1].startswith("#"):
            number += 1
        offset = file.starts[number - 1] if number <= len(file.lines) else len(file.text)
        edits.add(file, Span(offset, offset), line + file.newline)
        return
    assert after.end_lineno is not None
    end = file.starts[after.end_lineno - 1] + len(file.lines[after.end_lineno - 1])
    edits.add(file, Span(end, end), file.line_end(after.end_lineno) + line)


def _meaning(node: ast.AST, name: str) -> str:
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return f"{node.module}.{alias.name}" if node.level == 0 else f".{alias.name}"
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname == name:
                return alias.name
    return name
