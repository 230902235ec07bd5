"""Adds, replaces and takes away arguments of calls and elements of lists, commas and comments looked after."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .edits import Edits
from .text import SourceFile, Span


def arguments_span(file: SourceFile, call: ast.Call) -> Span:
    """Between the parentheses of a call."""
    end = file.span(call).end
    opening = file.token_after(file.span(call.func).end)
    while opening is not None and opening.text == ")":  # (f)(x)
        opening = file.token_after(opening.span.end)
    assert opening is not None and opening.text == "("
    return Span(opening.span.end, end - 1)


def parts(file: SourceFile, call: ast.Call) -> list[tuple[ast.expr | ast.keyword, Span]]:
    """The arguments of a call as they are written, in the order of the text."""
    inside = arguments_span(file, call)
    found: list[tuple[ast.expr | ast.keyword, Span]] = []
    for argument in call.args:
        if isinstance(argument, ast.GeneratorExp) and len(call.args) == 1 and not call.keywords:
            found.append((argument, inside))
        else:
            found.append((argument, file.in_parentheses(argument, inside)))
    for keyword in call.keywords:
        value = file.in_parentheses(keyword.value, inside)
        found.append((keyword, Span(file.span(keyword).start, value.end)))
    return sorted(found, key=lambda part: part[1])


def add_argument(file: SourceFile, call: ast.Call, text: str, edits: Edits) -> None:
    """Adds a keyword argument behind the others, in front of **options. On a line of its own where the others are."""
    written = [span for _, span in parts(file, call)]
    inside = arguments_span(file, call)
    if not written:
        edits.add(file, Span(inside.start, inside.start), text)
        return
    last = call.keywords[-1] if call.keywords else None
    if last is not None and last.arg is None and parts(file, call)[-1][0] is last:
        start = written[-1].start
        edits.add(file, Span(start, start), text + _separator(file, written, len(written) - 1))
        return
    insert_part(file, written, len(written) - 1, text, edits)


def remove_part(file: SourceFile, spans: Sequence[Span], which: int, edits: Edits) -> None:
    """Takes one of several parts between commas away, with its comma, and with its lines where it stands alone on
    them."""
    span = spans[which]
    comma = file.token_after(span.end)
    first, last = file.line_of(span.start), file.line_of(span.end)
    before = file.text[file.starts[first - 1] : span.start]
    if comma is not None and comma.text == ",":
        end = comma.span.end
        last = file.line_of(end)
        rest = file.text[end : file.starts[last - 1] + len(file.lines[last - 1])]
        if not before.strip() and (not rest.strip() or rest.lstrip().startswith("#")):
            edits.add(file, _whole_lines(file, first, last), "")
            return
        following = (
            spans[which + 1].start if which + 1 < len(spans) and file.line_of(spans[which + 1].start) == last else end
        )
        edits.add(file, Span(span.start, following), "")
        return
    if which > 0:
        rest = file.text[span.end : file.starts[last - 1] + len(file.lines[last - 1])]
        if not before.strip() and not rest.strip() and last < len(file.lines):
            edits.add(file, _whole_lines(file, first, last), "")
        else:
            edits.add(file, Span(spans[which - 1].end, span.end), "")
        return
    edits.add(file, span, "")


def insert_part(file: SourceFile, spans: Sequence[Span], after: int, text: str, edits: Edits) -> None:
    """Puts a text behind one of several parts between commas, on a line of its own where that one has its own."""
    span = spans[after]
    separator = _separator(file, spans, after)
    if separator != ", ":
        comma = file.token_after(span.end)
        behind = comma.span.end if comma is not None and comma.text == "," else span.end
        line = file.line_of(behind)
        end = file.starts[line - 1] + len(file.lines[line - 1])
        rest = file.text[behind:end].strip()
        if not rest or rest.startswith("#"):
            if behind == span.end:
                edits.add(file, Span(span.end, span.end), ",")
            edits.add(file, Span(end, end), separator[1:] + text + ("," if behind > span.end else ""))
            return
    edits.add(file, Span(span.end, span.end), separator + text)


def _separator(file: SourceFile, spans: Sequence[Span], place: int) -> str:
    """What stands between a part and a further one: a line of its own where the part has one."""
    span = spans[place]
    line = file.line_of(span.start)
    first = not file.text[file.starts[line - 1] : span.start].strip()
    if first and (place > 0 or len(spans) == 1 or file.line_of(spans[1].start) > line):
        return "," + file.line_end(line) + file.indentation(line)
    return ", "


def elements(file: SourceFile, node: ast.List | ast.Tuple) -> list[Span]:
    """The elements of a list or tuple as they are written."""
    return [file.in_parentheses(element, file.span(node)) for element in node.elts]


def _whole_lines(file: SourceFile, first: int, last: int) -> Span:
    end = file.starts[last] if last < len(file.starts) else len(file.text)
    return Span(file.starts[first - 1], end)


def remove_statement(file: SourceFile, statement: ast.stmt, block: Sequence[ast.stmt], edits: Edits) -> None:
    """Takes a statement away with its lines; `pass` stands in for the only one of a block."""
    span = file.span(statement)
    if len(block) == 1:
        edits.add(file, span, "pass")
        return
    first, last = file.line_of(span.start), file.line_of(span.end)
    before = file.text[file.starts[first - 1] : span.start]
    rest = file.text[span.end : file.starts[last - 1] + len(file.lines[last - 1])]
    if not before.strip() and (not rest.strip() or rest.lstrip().startswith("#")):
        lines = _whole_lines(file, first, last)
        if lines.end == len(file.text) and first > 1 and not file.text.endswith(("\n", "\r")):
            previous = file.starts[first - 2] + len(file.lines[first - 2])
            lines = Span(previous, lines.end)
        edits.add(file, lines, "")
        return
    semicolon = file.token_after(span.end)
    if semicolon is not None and semicolon.text == ";":
        end = semicolon.span.end
        while file.text[end : end + 1] == " ":
            end += 1
        edits.add(file, Span(span.start, end), "")
    else:
        edits.add(file, span, "pass")


def add_statement(file: SourceFile, after: ast.stmt, text: str, edits: Edits) -> None:
    """Puts a statement on a line behind another one of its block, in the same indentation."""
    span = file.span(after)
    last = file.line_of(span.end)
    end = file.starts[last - 1] + len(file.lines[last - 1])
    first = file.line_of(span.start)
    indentation = file.indentation(first)
    rest = file.text[span.end : end].lstrip()
    semicolon = rest.startswith(";") and rest[1:].strip() and not rest[1:].lstrip().startswith("#")
    own_line = not file.text[file.starts[first - 1] : span.start].strip()
    if semicolon or not own_line:
        edits.add(file, Span(span.end, span.end), "; " + text)
        return
    edits.add(file, Span(end, end), file.line_end(last) + indentation + text)
