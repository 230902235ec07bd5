"""The text of a user's file: its bytes, lines, syntax tree, tokens, and the places of expressions.

Nothing here writes a tree back: edits replace spans of the text (edits.py), so that whatever lies outside of them stays
as it is, byte by byte. Python's own `ast` and `tokenize` are enough for that, and they know the positions that
tracebacks use. A lossless tree such as LibCST's drops form feeds and mixed line ends, and would have to be installed
beside the user's framework.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..capture.recording import Place

_LINE_END = re.compile(r"\r\n?|\n")


class UnreadableSource(Exception):
    """A file that isn't Python, or that can't be decoded; says which, and where."""


class Span(NamedTuple):
    """Characters of a text, from `start` up to but without `end`."""

    start: int
    end: int


class Token(NamedTuple):
    """A token as `tokenize` has it, with its span in the text."""

    kind: int
    text: str
    span: Span


class SourceFile:
    """A file of the user: `name` as it is shown, `data` its bytes, `text` what they say without a byte order mark."""

    def __init__(self, name: str, data: bytes):
        self.name = name
        self.data = data
        try:
            self.encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            self.text = data.decode(self.encoding)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise UnreadableSource(f"{name}: cannot be decoded: {error}") from None
        ends = [match.span() for match in _LINE_END.finditer(self.text)]
        self.starts = [0, *(end for _, end in ends)]
        self.lines = [self.text[a:b] for a, b in zip(self.starts, [*(start for start, _ in ends), len(self.text)])]
        self.newline = _most_frequent([self.text[start:end] for start, end in ends]) or "\n"
        try:
            self.tree = ast.parse("\n".join(self.lines), filename=name)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            where = f"{name}:{line}" if line else name
            raise UnreadableSource(f"{where}: not Python: {getattr(error, 'msg', error)}") from None
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._tokens: list[Token] | None = None

    @classmethod
    def read(cls, path: Path, name: str | None = None) -> SourceFile:
        """The file at a path. Raises OSError, UnreadableSource."""
        return cls(name or str(path), path.read_bytes())

    def encode(self, text: str) -> bytes:
        """A changed text as bytes in the file's encoding, with the byte order mark that the file had."""
        return text.encode(self.encoding)

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line, from 1, and a column, from 0 in bytes of UTF-8, as `ast` has them."""
        content = self.lines[line - 1]
        return self.starts[line - 1] + len(content.encode()[:column].decode("utf-8", "replace"))

    def offset_of(self, line: int, column: int) -> int:
        """The offset of a line and a column that both count from 1, in characters."""
        return self.starts[line - 1] + column - 1

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Span:
        """Where a node stands, without parentheses around it."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def place(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> Place:
        """Where a node stands, as lines and columns from 1."""
        span = self.span(node)
        assert node.end_lineno is not None
        start, end = node.lineno, node.end_lineno
        return Place(
            self.name, start, span.start - self.starts[start - 1] + 1, end, span.end - self.starts[end - 1] + 1
        )

    def text_of(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> str:
        """A node as it is written."""
        span = self.span(node)
        return self.text[span.start : span.end]

    def line_of(self, offset: int) -> int:
        """The line, from 1, of an offset."""
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= offset else (low, middle)
        return low + 1

    def indentation(self, line: int) -> str:
        """The white space that a line begins with."""
        content = self.lines[line - 1]
        return content[: len(content) - len(content.lstrip())]

    def line_end(self, line: int) -> str:
        """How a line ends; the file's usual end where it is the last one and has none."""
        start = self.starts[line - 1] + len(self.lines[line - 1])
        return (self.text[start : self.starts[line]] if line < len(self.starts) else "") or self.newline

    @property
    def tokens(self) -> list[Token]:
        """The tokens that have a text: names, operators, numbers, strings, comments."""
        if self._tokens is None:
            self._tokens = list(self._tokenize())
        return self._tokens

    def _tokenize(self) -> Iterator[Token]:
        structure = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        for token in tokenize.generate_tokens(io.StringIO("\n".join(self.lines) + "\n").readline):
            if token.type not in structure:
                start = self.starts[token.start[0] - 1] + token.start[1]
                end = self.starts[token.end[0] - 1] + token.end[1]
                yield Token(token.type, token.string, Span(start, end))

    def token_after(self, offset: int, comments: bool = False) -> Token | None:
        """The first token that starts at or behind an offset."""
        for token in self.tokens:
            if token.span.start >= offset and (comments or token.kind != tokenize.COMMENT):
                return token
        return None

    def token_before(self, offset: int) -> Token | None:
        """The last token that ends at or before an offset, comments left out."""
        found = None
        for token in self.tokens:
            if token.span.end > offset:
                break
            if token.kind != tokenize.COMMENT:
                found = token
        return found

    def in_parentheses(self, node: ast.expr, limit: Span) -> Span:
        """The node's span with the parentheses that stand around it alone, within `limit`."""
        span = self.span(node)
        while True:
            before, after = self.token_before(span.start), self.token_after(span.end)
            if before is None or after is None or before.text != "(" or after.text != ")":
                return span
            if before.span.start < limit.start or after.span.end > limit.end:
                return span
            span = Span(before.span.start, after.span.end)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the innermost outward."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is in, or is."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node


def _most_frequent(texts: list[str]) -> str | None:
    return max(sorted(set(texts)), key=texts.count) if texts else None
