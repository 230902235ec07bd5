"""Changes of a training loop that is written by hand: zero_grad, step, eval, detach, the optimiser's parameters."""

from __future__ import annotations

import ast

from .argument_edits import add_statement, remove_statement
from .calls import At, Made
from .difference import Change
from .edits import Edits
from .reasons import CannotChange
from .source_map import SourceMap
from .text import Span


class LoopEdits:
    """Edits of `fit.loop`; raises CannotChange for what isn't a matter of a statement."""

    def __init__(self, source_map: SourceMap):
        self.map = source_map

    def change(self, change: Change, edits: Edits) -> None:
        """Adds the edits of one field of `fit.loop`."""
        if change.key == "zero_grad":
            self._zero_grad(change, edits)
        elif change.key == "step":
            self._step(bool(change.new), edits)
        elif change.key == "detached" and change.new is None:
            self._detached(edits)
        elif change.key == "eval_mode" and change.new is True:
            self._evaluation(edits)
        elif change.key == "left_out" and not change.new:
            self._all_parameters(edits)
        else:
            raise CannotChange("this way of a loop isn't written by neutra", self._call("/fit", "backward"))

    def _made(self, path: str, name: str | None = None) -> Made | None:
        return next((m for m in self.map.made if m.site.path == path and name in (None, m.site.name)), None)

    def _call(self, path: str, name: str | None = None) -> At | None:
        made = self._made(path, name)
        return made.call if made is not None else None

    def _statement(self, path: str, name: str | None, what: str) -> At:
        at = self._call(path, name)
        if at is None:
            raise CannotChange(f"the call of {what} isn't found in the text")
        return At(at.file, at.file.statement(at.node))

    def _optimizer(self) -> str:
        """What the optimiser is called in the loop."""
        for name in ("step", "zero_grad"):
            at = self._call(f"/fit/loop/{name}")
            if at is not None and isinstance(at.node, ast.Call) and isinstance(at.node.func, ast.Attribute):
                return at.file.text_of(at.node.func.value)
        at = self._call("/compile/optimizer")
        parent = at.file.parents.get(at.node) if at is not None else None
        if at is None or not isinstance(parent, ast.Assign):
            raise CannotChange("the optimiser has no name", at)
        return at.file.text_of(parent.targets[0])

    def _model(self) -> str:
        """What the model is called where it is run in training."""
        for made in self.map.made:
            at = made.calls[-1] if made.calls else None
            if made.site.name == "forward" and at is not None and isinstance(at.node, ast.Call):
                for level in made.calls:
                    if level is not None and isinstance(level.node, ast.Call) and isinstance(level.node.func, ast.Name):
                        return level.node.func.id
        raise CannotChange("the model has no name")

    def _zero_grad(self, change: Change, edits: Edits) -> None:
        name = self._optimizer()
        if change.new == "never":
            self._remove("/fit/loop/zero_grad", "zero_grad", edits)
            return
        if change.new != "each_step":
            raise CannotChange("gradients that aren't made zero before each backward pass")
        backward = self._statement("/fit", "backward", "backward()")
        if change.old == "before_step":
            self._remove("/fit/loop/zero_grad", "zero_grad", edits)
        _add_before(backward, f"{name}.zero_grad()", edits)

    def _remove(self, path: str, what: str, edits: Edits) -> None:
        at = self._statement(path, None, what)
        assert isinstance(at.node, ast.stmt)
        if not isinstance(at.node, ast.Expr):
            raise CannotChange(f"{what} is part of another statement", at)
        block = self.map.sources.scopes(at.file).block(at.node)
        remove_statement(at.file, at.node, block, edits)

    def _step(self, wanted: bool, edits: Edits) -> None:
        if not wanted:
            self._remove("/fit/loop/step", "step", edits)
            return
        backward = self._statement("/fit", "backward", "backward()")
        assert isinstance(backward.node, ast.stmt)
        add_statement(backward.file, backward.node, f"{self._optimizer()}.step()", edits)

    def _detached(self, edits: Edits) -> None:
        at = self._call("/fit/loop/detached")
        if at is None or not isinstance(at.node, ast.Call) or not isinstance(at.node.func, ast.Attribute):
            raise CannotChange("where the gradient is cut off isn't a call of detach()", at)
        if at.node.func.attr not in ("detach", "detach_"):
            raise CannotChange("where the gradient is cut off isn't a call of detach()", at)
        end = at.file.span(at.node.func.value).end
        edits.add(at.file, Span(end, at.file.span(at.node).end), "")

    def _evaluation(self, edits: Edits) -> None:
        """model.eval() in front of the evaluation, model.train() at the start of each epoch."""
        at = self._call("/fit/loop/eval_mode")
        backward = self._call("/fit", "backward")
        if at is None or backward is None:
            raise CannotChange("the call that evaluates isn't found in the text")
        scopes = self.map.sources.scopes(at.file)
        around = [node for node in backward.file.ancestors(backward.node) if isinstance(node, (ast.For, ast.While))]
        outer = at.file.statement(at.node)
        for node in at.file.ancestors(outer):
            block = isinstance(node, (ast.With, ast.For, ast.While, ast.Try))
            here = scopes.function_of(node) is scopes.function_of(at.node)
            if isinstance(node, ast.stmt) and block and here and node not in around:
                outer = node
        name = self._name_in(at)
        _add_before(At(at.file, outer), f"{name}.eval()", edits)
        if around and isinstance(around[-1], (ast.For, ast.While)):
            first = around[-1].body[0]
            if f"{self._model()}.train()" not in backward.file.text_of(first):
                _add_before(At(backward.file, first), f"{self._model()}.train()", edits)

    def _name_in(self, at: At) -> str:
        """The model in the call that evaluates it."""
        if isinstance(at.node, ast.Call) and isinstance(at.node.func, (ast.Name, ast.Attribute)):
            return at.file.text_of(at.node.func)
        raise CannotChange("the model has no name where it is evaluated", at)

    def _all_parameters(self, edits: Edits) -> None:
        made = self._made("/compile/optimizer")
        at = made.call if made is not None else None
        if at is None or not isinstance(at.node, ast.Call) or not at.node.args:
            raise CannotChange("what the optimiser is given isn't written here", at)
        edits.add(at.file, at.file.span(at.node.args[0]), f"{self._model()}.parameters()")


def _add_before(at: At, text: str, edits: Edits) -> None:
    """Puts a statement on a line in front of another one."""
    assert isinstance(at.node, ast.stmt)
    file, line = at.file, at.node.lineno
    start = file.span(at.node).start
    if file.text[file.starts[line - 1] : start].strip():
        edits.add(file, Span(start, start), f"{text}; ")
        return
    edits.add(file, Span(start, start), f"{text}{file.line_end(line)}{file.indentation(line)}")
