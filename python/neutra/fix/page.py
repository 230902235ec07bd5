"""The page of a fix: patches as coloured diffs, before and after, and what each tool said. It needs no other file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from typing import Any

from .text import NOTHING, faults_in_words, number

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #1b1b1b }
body { background: #fff } h2 { margin-top: 2em } .weak { color: #8a5a00 }
td, th { text-align: left; padding: .2em 1em .2em 0; vertical-align: top }
pre { background: #f6f6f6; padding: .7em; overflow-x: auto; font-size: 13px; line-height: 1.4 } code { font-size: 90% }
.add { background: #d9f2dc } .del { background: #fbdcdc } .at { color: #666 } .add, .del, .at { display: block }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #16181b } pre { background: #22252a } a { color: #8ab4f8 } .weak { color: #e8b45a }
  .add { background: #17401f } .del { background: #4a1d1d } .at { color: #999 }
}
"""


def page(result: Mapping[str, Any]) -> str:
    """The page as HTML."""
    name = escape(os.path.basename(result["program"]))
    better = "higher" if result["goal"] == "maximize" else "lower"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>neutra fix {name}</title><style>{_STYLE}</style></head>',
        "<body>",
        f"<h1>{name}</h1>",
        f"<p>As it is: {escape(result['metric'])} {number(result['buggy'])} ({better} is better; the mean of several "
        f"trainings). {result['programs']} changed trainings were tried.</p>",
    ]
    if not result["patches"]:
        parts.append("<p>None of them is clearly better: no patch was found.</p>")
    for index, patch in enumerate(result["patches"], 1):
        parts.append(_patch(index, patch, result))
    parts.append(_tools(result))
    parts.append('<p><a href="report.html">Everything that was tried</a></p></body></html>\n')
    return "\n".join(parts)


def _patch(index: int, patch: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    p = "" if patch["p"] is None else f", p = {patch['p']:.2g}"
    changes = "".join(f"<li>{escape(change)}</li>" for change in patch["changes"])
    weak = (
        '<p class="weak">Weak: among so many programs, one may be as much better by chance.</p>'
        if patch["weak"]
        else ""
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in patch["notes"])
    return (
        f"<h2>Patch {index}: {escape(result['metric'])} {number(result['buggy'])} &rarr; {number(patch['mean'])}</h2>"
        f"<ul>{changes}</ul>{weak}<p>At {escape(', '.join(patch['lines']))}{p}. Apply it in "
        f"<code>{escape(result['folder'])}</code>: <code>patch -p1 &lt; {escape(patch['patch'])}</code></p>{notes}"
        f"<pre>{''.join(map(_line, patch['diff'].splitlines()))}</pre>"
    )


def _line(line: str) -> str:
    kind = "at" if line.startswith(("--- ", "+++ ", "@@ ", "\\")) else {"+": "add", "-": "del"}.get(line[:1], "")
    return f'<span class="{kind}">{escape(line)}</span>' if kind else f"{escape(line)}\n"


def _tools(result: Mapping[str, Any]) -> str:
    meanings = result["fault_types"]
    rows = []
    for tool in result["tools"]:
        answer = tool["answer"] if tool["answer"] in NOTHING else faults_in_words(tool["answer"], meanings)
        cells = (tool["tool"], answer, ", ".join(tool["lines"]))
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    legend = "; ".join(f"{escape(name)}: {escape(meaning)}" for name, meaning in sorted(meanings.items()))
    return (
        "<h2>What fault-localisation tools say</h2><p>They often disagree. A number in brackets is a layer, counted "
        "from 0; - is nothing found.</p><table><tr><th>tool</th><th>suspects</th><th>lines</th></tr>"
        f"{''.join(rows)}</table>" + (f"<p>{legend}</p>" if legend else "")
    )
