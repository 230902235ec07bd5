"""Where the value of an expression comes from: through variables, parameters, loops, attributes and dicts."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import options
from .calls import At, Made, Sources, argument_of, default_of, last_name, parameters_of
from .literals import is_literal, value_of
from .scopes import Binding, Function
from .text import SourceFile

_CONVERSIONS = ("int", "float", "str", "bool", "tuple", "list")
_NAMESPACES = ("SimpleNamespace", "Namespace", "dict", "EasyDict", "AttrDict", "Munch", "Box", "DotDict")
_DEPTH = 40
_STEPS = 2000
_TURNS = 32


@dataclass(frozen=True)
class Step:
    """An expression on the way of a value, and how the one before led to it: "use" (the first), "variable",
    "argument", "default" (of a parameter), "loop", "command_line"."""

    at: At
    how: str


@dataclass
class Context:
    """What is known of the run: the site, its calls, and which turn of each loop around them made it."""

    made: Made
    turns: dict[int, int] = field(default_factory=dict)  # id of a loop's node -> turn, from 0


Chain = tuple[Step, ...]


class Resolver:
    """Follows expressions to where their values are written. Every answer is a list of chains: one where the value's
    way is certain, several where branches of the script give different ones, none where there is no way."""

    def __init__(self, sources: Sources):
        self.sources = sources
        self._depth = 0
        self._steps = 0

    def chains(self, at: At, level: int, context: Context) -> list[Chain]:
        """The ways of the value of an expression that is evaluated at a level of the site's calls."""
        return self.follow(at, level, context, (Step(at, "use"),))

    def follow(self, at: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        """Goes on from an expression at the end of a way. Values that depend on themselves, and scripts in which every
        way branches again and again, end where they are."""
        if self._depth == 0:
            self._steps = 0
        if self._depth > _DEPTH or self._steps > _STEPS or is_literal(at.node):
            return [chain]
        self._depth += 1
        self._steps += 1
        try:
            return self._ways(at, level, context, chain)
        finally:
            self._depth -= 1

    def _ways(self, at: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        node, file = at.node, at.file
        found: list[Chain] = []
        if isinstance(node, ast.Name):
            for binding, turned in self._reaching(At(file, node), context):
                found += self._bound(binding, At(file, node), level, turned, chain)
        elif isinstance(node, ast.Attribute):
            found = self._attribute(At(file, node), level, context, chain)
        elif isinstance(node, ast.Subscript):
            found = self._subscript(At(file, node), level, context, chain)
        elif isinstance(node, ast.Call) and last_name(node.func) in _CONVERSIONS and len(node.args) == 1:
            found = self.follow(At(file, node.args[0]), level, context, chain)
            found = [way for way in found if is_literal(way[-1].at.node)]
        elif isinstance(node, ast.IfExp):  # the value tells which of them it was
            for branch in (node.body, node.orelse):
                found += self._to(At(file, branch), "variable", level, context, chain)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            for branch in node.values:
                found += self._to(At(file, branch), "variable", level, context, chain)
        elif isinstance(node, ast.Call) and last_name(node.func) == "field" and (made := _made_by_field(node)):
            found = self._to(At(file, made), "variable", level, context, chain)
        elif isinstance(node, ast.NamedExpr):
            found = self._to(At(file, node.value), "variable", level, context, chain)
        elif isinstance(node, ast.Call):
            result = self._returned(At(file, node))
            found = self._to(result, "variable", level, context, chain) if result is not None else []
        return found or [chain]

    def _reaching(self, use: At, context: Context) -> list[tuple[Binding, Context]]:
        """The bindings that a name may have, with the turns of loops in which they were made: what stands behind the
        use in a loop's body (width = n) was made in the turn before."""
        node, scopes = use.node, self.sources.scopes(use.file)
        assert isinstance(node, ast.Name)
        bindings = scopes.reaching(node.id, node)
        if len(bindings) < 2:
            return [(binding, context) for binding in bindings]
        loops = scopes.loops_around(node)
        for loop in reversed(loops):
            turn = context.turns.get(id(loop))
            later = [b for b in bindings if loop in use.file.ancestors(b.node) and not scopes.precedes(b.node, node)]
            if not later or turn is None:
                continue
            if turn > 0:
                before = Context(context.made, {**context.turns, id(loop): turn - 1})
                return [(binding, before) for binding in later]
            bindings = [binding for binding in bindings if binding not in later]
        last = self._after_loop(use, bindings, context)
        if last is not None:
            return [last]
        if len(bindings) > 1:
            ahead = [b for b in bindings if scopes.precedes(b.node, node) and b.how == "value"]
            same = [b for b in ahead if scopes.in_block_of(b.node, node)]
            if ahead and same and same[-1] is ahead[-1]:
                bindings = [ahead[-1]]
        return [(binding, context) for binding in bindings]

    def _after_loop(self, use: At, bindings: Sequence[Binding], context: Context) -> tuple[Binding, Context] | None:
        """What the last turn of a loop before the use has left in a name."""
        scopes = self.sources.scopes(use.file)
        last = bindings[-1]
        if any(not scopes.precedes(b.node, use.node) for b in bindings) or not isinstance(last.node, ast.stmt):
            return None
        loop = use.file.parents.get(last.node)
        iterable = iterable_of(loop) if loop is not None else None
        if loop is None or iterable is None or last.how != "value" or loop in use.file.ancestors(use.node):
            return None
        length = self.length(At(use.file, iterable), 0, context)
        return (last, Context(context.made, {**context.turns, id(loop): length - 1})) if length else None

    def _to(self, at: At, how: str, level: int, context: Context, chain: Chain) -> list[Chain]:
        return self.follow(at, level, context, (*chain, Step(at, how)))

    def _returned(self, call: At) -> At | None:
        """What a function of the user's files returns, where it has one return and the call names it."""
        assert isinstance(call.node, ast.Call)
        if not isinstance(call.node.func, ast.Name):
            return None
        for binding in self.sources.scopes(call.file).lookup(call.node.func.id, call.node)[1]:
            if binding.how == "definition" and isinstance(binding.node, ast.FunctionDef):
                returns = [
                    node for node in ast.walk(binding.node) if isinstance(node, ast.Return) and node.value is not None
                ]
                if len(returns) == 1 and returns[0].value is not None:
                    return At(call.file, returns[0].value)
        return None

    def _bound(self, binding: Binding, use: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        file, name = use.file, use.node.id  # type: ignore[attr-defined]
        if binding.how == "parameter":
            return self._parameter(name, use, level, context, chain)
        if binding.how == "import" and isinstance(binding.node, ast.ImportFrom):
            module = self.sources.module(binding.node.module or "", file)
            original = next((a.name for a in binding.node.names if (a.asname or a.name) == name), name)
            return self._of_module(module, original, level, context, chain)
        if binding.value is None:
            return []
        if binding.how == "loop":
            iterable = At(file, binding.value)
            elements = [
                at
                for t in self._turns(binding, iterable, level, context)
                for at in self.element(iterable, t, binding.unpack, level, context)
            ]
            return [way for at in elements for way in self._to(at, "loop", level, context, chain)]
        found = [At(file, binding.value)]
        for place in binding.unpack:
            found = [each for at in found for each in self._item(at, place, level, context)]
        return [way for at in found for way in self._to(at, "variable", level, context, chain)]

    def _turns(self, binding: Binding, iterable: At, level: int, context: Context) -> Sequence[int]:
        """The turn of a loop that made the site; all of a short one where that isn't known: `if i == 0` in its body."""
        turn = context.turns.get(id(binding.node))
        if turn is not None:
            return [turn]
        return range(min(self.length(iterable, level, context) or 0, _TURNS))

    def _of_module(
        self, module: SourceFile | None, name: str, level: int, context: Context, chain: Chain
    ) -> list[Chain]:
        """A name at the top of another of the user's files."""
        if module is None:
            return []
        bindings = self.sources.scopes(module).bindings.get(module.tree, {}).get(name, [])
        found: list[Chain] = []
        for binding in bindings:
            if binding.how == "value" and binding.value is not None and not binding.unpack:
                found += self._to(At(module, binding.value), "variable", level, context, chain)
        return found if len(bindings) == 1 else []

    def _parameter(self, name: str, use: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        function = self._function_with(name, use)
        if function is None:
            return []
        option = options.decorated(use.file, function, name)
        if option is not None:
            return [(*chain, Step(At(use.file, option), "command_line"))]
        caller = self.sources.caller(context.made, use.file, function)
        if caller is not None:
            outer, call = caller
            assert isinstance(call.node, ast.Call)
            given = argument_of(call.node, name, self._passed(use.file, function, call))
            if given is not None:
                return self._to(At(call.file, given), "argument", outer, context, chain)
            if any(k.arg is None for k in call.node.keywords) or any(
                isinstance(a, ast.Starred) for a in call.node.args
            ):
                return []
        default = default_of(function, name)
        if default is None or caller is None:
            return []
        return self._to(At(use.file, default), "default", level, context, chain)

    def _function_with(self, name: str, use: At) -> Function | None:
        scope, _ = self.sources.scopes(use.file).lookup(name, use.node)
        return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else None

    def _passed(self, file: SourceFile, function: Function, call: At) -> list[str]:
        """The positional parameters of a function as a call fills them: a method's `self` is left out."""
        names = parameters_of(function)
        owner = self.sources.scopes(file).class_of(function)
        static = any(
            isinstance(d, ast.Name) and d.id == "staticmethod" for d in getattr(function, "decorator_list", [])
        )
        return names[1:] if owner is not None and not static else names

    def _attribute(self, at: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        node = at.node
        assert isinstance(node, ast.Attribute)
        if isinstance(node.value, ast.Name):
            name = node.value.id
            for binding in self.sources.scopes(at.file).lookup(name, node)[1]:
                if binding.how == "import":
                    dotted = self.sources.scopes(at.file).dotted(node.value) or name
                    return self._of_module(self.sources.module(dotted, at.file), node.attr, level, context, chain)
        found: list[Chain] = []
        for owner, outer in self._objects(At(at.file, node.value), level, context):
            for target, how in self._members(owner, node.attr):
                found += self._to(target, how, outer, context, chain)
        return found

    def _objects(self, at: At, level: int, context: Context) -> list[tuple[At, int]]:
        """What an expression that isn't a plain value may be: calls, classes, dicts, lists."""
        scopes = self.sources.scopes(at.file)
        if isinstance(at.node, ast.Name):
            bindings = scopes.lookup(at.node.id, at.node)[1]
            for binding in bindings:
                if binding.how == "definition" and isinstance(binding.node, ast.ClassDef):
                    return [(At(at.file, binding.node), level)]
            function = self._function_with(at.node.id, at)
            owner = scopes.class_of(function) if function is not None else None
            if function is not None and owner is not None and parameters_of(function)[:1] == [at.node.id]:
                return [(At(at.file, owner), level)]
            if len(bindings) == 1 and bindings[0].unpack == (0,) and isinstance(bindings[0].value, ast.Call):
                return [(At(at.file, bindings[0].value), level)]  # args, rest = parser.parse_known_args()
        ways = self.chains(at, level, context)
        return [(way[-1].at, level) for way in ways]

    def _members(self, owner: At, name: str) -> list[tuple[At, str]]:
        """The expressions that an attribute of an object may have, and how."""
        node, file = owner.node, owner.file
        if isinstance(node, ast.Call):
            called = last_name(node.func)
            if called in options.PARSERS:
                option = options.parsed(list(self.sources.files.values()), name)
                return [(option, "command_line")] if option is not None else []
            for keyword in node.keywords:
                if keyword.arg == name and called in _NAMESPACES:
                    return [(At(file, keyword.value), "variable")]
            if called in _NAMESPACES and len(node.args) == 1 and isinstance(node.args[0], ast.Dict):
                return self._entries(At(file, node.args[0]), name)
            definition = self._class_named(called, file)
            return self._class_members(definition, name, node, file) if definition is not None else []
        if isinstance(node, ast.ClassDef):
            return self._class_members(owner, name, None, file)
        option = options.flag(list(self.sources.files.values()), node, name)
        return [(option, "command_line")] if option is not None else []

    def _class_named(self, name: str | None, beside: SourceFile) -> At | None:
        for file in (beside, *self.sources.files.values()):
            for node in ast.walk(file.tree):
                if isinstance(node, ast.ClassDef) and node.name == name:
                    return At(file, node)
        return None

    def _class_members(self, owner: At, name: str, made_by: ast.Call | None, where: SourceFile) -> list[tuple[At, str]]:
        assert isinstance(owner.node, ast.ClassDef)
        fields = [s for s in owner.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        names = [s.target.id for s in fields if isinstance(s.target, ast.Name)]
        if made_by is not None and any("dataclass" in ast.dump(d) for d in owner.node.decorator_list):
            given = argument_of(made_by, name, names)
            if given is not None:
                return [(At(where, given), "argument")]
        found: list[tuple[At, str]] = []
        for node in ast.walk(owner.node):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    in_class = isinstance(target, ast.Name) and target.id == name and node in owner.node.body
                    if in_class or (isinstance(target, ast.Attribute) and target.attr == name and _is_self(target)):
                        found.append((At(owner.file, node.value), "variable"))
            elif (
                isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute) and node.target.attr == name
            ):
                return []
        return found

    def _subscript(self, at: At, level: int, context: Context, chain: Chain) -> list[Chain]:
        node = at.node
        assert isinstance(node, ast.Subscript)
        keys = [way[-1].at.node for way in self.chains(At(at.file, node.slice), level, context)]
        found: list[Chain] = []
        if len(keys) != 1 or not is_literal(keys[0]):
            turn = self._index_of_turn(At(at.file, node.slice), level, context)
            if turn is None:
                return []
            key: Any = turn
        else:
            key = value_of(keys[0])
        if isinstance(key, str) and self._assigned(at, key):
            return []
        if isinstance(key, str) and isinstance(node.value, ast.Name):
            found = self._in_keywords(At(at.file, node.value), key, level, context, chain)
        for owner, outer in self._objects(At(at.file, node.value), level, context):
            if isinstance(key, int):
                for target in self._item(owner, key, outer, context):
                    found += self._to(target, "variable", outer, context, chain)
            else:
                for target, how in self._entries(owner, key):
                    found += self._to(target, how, outer, context, chain)
        return found

    def _in_keywords(self, owner: At, key: str, level: int, context: Context, chain: Chain) -> list[Chain]:
        """An entry of a function's **options: the argument of that name in the call."""
        assert isinstance(owner.node, ast.Name)
        function = self._function_with(owner.node.id, owner)
        if function is None or function.args.kwarg is None or function.args.kwarg.arg != owner.node.id:
            return []
        caller = self.sources.caller(context.made, owner.file, function)
        if caller is None or not isinstance(caller[1].node, ast.Call):
            return []
        outer, call = caller
        given = [At(call.file, each.value) for each in caller[1].node.keywords if each.arg == key]
        return [way for at in given for way in self._to(at, "argument", outer, context, chain)]

    def _index_of_turn(self, at: At, level: int, context: Context) -> int | None:
        """The value of the variable of `for i in range(n)` or of enumerate in this turn."""
        if not isinstance(at.node, ast.Name):
            return None
        for binding in self.sources.scopes(at.file).reaching(at.node.id, at.node):
            turn = context.turns.get(id(binding.node))
            if binding.how == "loop" and turn is not None and isinstance(binding.value, ast.Call):
                called, arguments = last_name(binding.value.func), binding.value.args
                plain = len(arguments) == 1 and not binding.value.keywords
                if plain and (called == "range" or (called == "enumerate" and binding.unpack == (0,))):
                    return turn
        return None

    def _assigned(self, at: At, key: str) -> bool:
        """Is an entry of this dict, by the variable's name, set anywhere but in its literal?"""
        assert isinstance(at.node, ast.Subscript)
        name = last_name(at.node.value)
        for file in self.sources.files.values():
            for node in ast.walk(file.tree):
                if not isinstance(node, ast.Subscript) or isinstance(node.ctx, ast.Load):
                    continue
                if last_name(node.value) == name and getattr(node.slice, "value", key) == key:
                    return True
        return False

    def _entries(self, owner: At, key: str) -> list[tuple[At, str]]:
        node = owner.node
        if isinstance(node, ast.Dict):
            values = [v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant) and k.value == key]
            return [(At(owner.file, value), "variable") for value in values[-1:]]
        if isinstance(node, ast.Call) and last_name(node.func) in _NAMESPACES:
            return [(At(owner.file, k.value), "variable") for k in node.keywords if k.arg == key]
        if isinstance(node, ast.Call) and last_name(node.func) == "vars" and len(node.args) == 1:
            return self._members(At(owner.file, node.args[0]), key) if isinstance(node.args[0], ast.Call) else []
        return []

    def _item(self, at: At, place: int, level: int, context: Context) -> list[At]:
        """An element of a list or tuple."""
        found = []
        for way in self.chains(at, level, context):
            elements = self.elements(way[-1].at, level, context)
            if elements is not None and -len(elements) <= place < len(elements):
                found.append(elements[place])
        return found

    def elements(self, at: At, level: int, context: Context) -> list[At] | None:
        """The elements of a list that is written, also of [n] + widths and of widths[:-1]; None of anything else."""
        node, file = at.node, at.file
        if isinstance(node, (ast.Tuple, ast.List)):
            found: list[At] = []
            for element in node.elts:
                inner = element.value if isinstance(element, ast.Starred) else None
                more = self._listed(At(file, inner), level, context) if inner is not None else [At(file, element)]
                if more is None:
                    return None
                found += more
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = (self._listed(At(file, part), level, context) for part in (node.left, node.right))
            return left + right if left is not None and right is not None else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            whole = self._listed(At(file, node.value), level, context)
            try:
                parts = (node.slice.lower, node.slice.upper, node.slice.step)
                bounds = [value_of(part) if part is not None else None for part in parts]
                return whole[slice(*bounds)] if whole is not None else None
            except (ValueError, TypeError):
                return None
        return None

    def _listed(self, at: At, level: int, context: Context) -> list[At] | None:
        ways = self.chains(at, level, context)
        return self.elements(ways[0][-1].at, level, context) if len(ways) == 1 else None

    def element(self, at: At, turn: int, unpack: Sequence[int], level: int, context: Context) -> list[At]:
        """What a loop over an iterable binds in a turn."""
        node = at.node
        if isinstance(node, ast.Call) and last_name(node.func) == "enumerate" and node.args:
            if tuple(unpack[:1]) != (1,):
                return []
            return self.element(At(at.file, node.args[0]), turn, unpack[1:], level, context)
        if isinstance(node, ast.Call) and last_name(node.func) == "zip" and unpack and unpack[0] < len(node.args):
            return self.element(At(at.file, node.args[unpack[0]]), turn, unpack[1:], level, context)
        if isinstance(node, ast.Call) and last_name(node.func) == "reversed" and len(node.args) == 1:
            return self.element(At(at.file, node.args[0]), -1 - turn, unpack, level, context)
        found = self._item(at, turn, level, context)
        for place in unpack:
            found = [each for one in found for each in self._item(one, place, level, context)]
        return found

    def entries_of(self, star: At, key: str, context: Context) -> list[At]:
        """The entries of this name in the dict that a call unpacks with **."""
        owners = self._objects(star, 0, context)
        return [at for owner, _ in owners for at, _ in self._entries(owner, key)]

    def length(self, at: At, level: int, context: Context) -> int | None:
        """How many turns a loop over an iterable takes, where that is written."""
        node = at.node
        if isinstance(node, ast.Call) and last_name(node.func) in ("enumerate", "reversed") and node.args:
            return self.length(At(at.file, node.args[0]), level, context)
        if isinstance(node, ast.Call) and last_name(node.func) == "zip" and node.args:
            lengths = [self.length(At(at.file, argument), level, context) for argument in node.args]
            known = [length for length in lengths if length is not None]
            return min(known) if len(known) == len(lengths) else None
        if isinstance(node, ast.Call) and last_name(node.func) == "range":
            values = [self.whole_number(At(at.file, argument), level, context) for argument in node.args]
            numbers = [value for value in values if value is not None]
            if len(numbers) != len(values) or not numbers or (len(numbers) > 2 and numbers[2] == 0):
                return None
            return len(range(*numbers))
        listed = self._listed(at, level, context)
        return len(listed) if listed is not None else None

    def whole_number(self, at: At, level: int, context: Context) -> int | None:
        """The value of an expression that is a whole number, where it is written."""
        if isinstance(at.node, ast.Call) and last_name(at.node.func) == "len" and len(at.node.args) == 1:
            return self.length(At(at.file, at.node.args[0]), level, context)
        ends = [way[-1].at.node for way in self.chains(at, level, context)]
        value = value_of(ends[0]) if len(ends) == 1 and is_literal(ends[0]) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def iterable_of(loop: ast.AST) -> ast.expr | None:
    """What a loop or a part of a comprehension goes over; None for `while`."""
    return loop.iter if isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)) else None


def _made_by_field(call: ast.Call) -> ast.expr | None:
    """The default of a dataclass's field(default=...) or field(default_factory=lambda: ...)."""
    for keyword in call.keywords:
        if keyword.arg == "default":
            return keyword.value
        if keyword.arg == "default_factory" and isinstance(keyword.value, ast.Lambda):
            return keyword.value.body
    return None


def _is_self(target: ast.Attribute) -> bool:
    return isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")
