"""Values that are written as they are: numbers, texts, None, tuples and lists of them, sums and powers of numbers."""

from __future__ import annotations

import ast
import math
import operator
import struct
from collections.abc import Callable
from typing import Any

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def value_of(node: ast.AST) -> Any:
    """The value of a literal. Raises ValueError where an expression isn't one."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, (bytes, complex, type(...))):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        return [value_of(element) for element in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {value_of(key): value_of(value) for key, value in zip(node.keys, node.values) if key is not None}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _number(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.Pow) and (abs(left) > 1e9 or abs(right) > 64):
            raise ValueError("too large a power")
        try:
            return _OPERATORS[type(node.op)](left, right)
        except ArithmeticError as error:
            raise ValueError(str(error)) from None
    raise ValueError("not a literal")


def is_literal(node: ast.AST) -> bool:
    """Is this expression written as a value: a number, a text, None, a truth value, or numbers computed from numbers?
    Lists and tuples are where all of their elements are."""
    if isinstance(node, ast.Dict):
        return False
    try:
        value_of(node)
    except (ValueError, TypeError):
        return False
    return True


def _number(node: ast.AST) -> Any:
    value = value_of(node)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("not a number")
    return value


def written(value: Any, like: str | None = None) -> str:
    """A value as Python source. A text takes the quotes of `like`, the text that it replaces; a list becomes a tuple
    where `like` isn't a list."""
    if isinstance(value, str):
        quote = "'" if like is None or "'" in like or '"' not in like else '"'
        return quote + value.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
    if isinstance(value, (list, tuple)):
        inner = ", ".join(written(element, like) for element in value)
        if like is not None and like.lstrip().startswith("["):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{written(_key(k), like)}: {written(v, like)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and not isinstance(value, bool):
        return _float(value, like)
    return repr(value)


def _key(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.isdigit() else key


def _float(value: float, like: str | None) -> str:
    """A float; in the form 1e-3 where `like` is written so and the value allows. One that went through single precision
    gets back the few digits that it was written with."""
    short = float(f"{value:.7g}")
    if len(repr(value)) > 12 and math.isfinite(value) and abs(value) < 1e38:
        single = struct.pack("f", value)
        value = short if struct.pack("f", short) == single and struct.unpack("f", single)[0] == value else value
    text = repr(value)
    if text in ("inf", "-inf", "nan"):
        return f"float('{text}')"
    if like is not None and "e" in like.lower() and "e" not in text and value != 0:
        for digits in range(17):
            mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
            if float(f"{mantissa}e{exponent}") == value:
                return f"{mantissa}e{int(exponent)}"
    return text
