"""The sections that live: the network with its controls, and one row's way through it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from newron.figures.diagram import Function, Neuron
from newron.figures.figure import Figure
from newron.report.facts import Facts
from newron.report.ruling import name_rules
from newron.report.writing import count, tell
from newron.shapes.sentence import shorten

__all__ = ["write_network", "write_row"]

_MOST_PARTS, _FEW_PARTS = 16, 5  # functions of a neuron that have a line; of many neurons
_SIDE = 16.0  # what is cut off the margin of a wide figure
_LEAD = {"sum": "adds", "mean": "averages", "min": "takes the least of",
         "max": "takes the greatest of", "product": "multiplies"}  # fmt: skip


def write_network(facts: Facts) -> str:
    """Write the network, its controls and a way to choose rows."""
    wide, narrow = facts.figures
    noun = facts.words.noun
    what = "thresholds" if facts.is_crisp else "where a function turns"
    marks = f" The blue marks on a slider are {what}."
    return f"""<h2>The network, live</h2>
<p>Change a value and follow it: the dot moves on its function, a line stands out while the
function is on, and the sum moves along the answer.{marks} Click a function, or press Enter on it,
to see it large.</p>
<div class="panel"><div class="live"><output id="live" role="status"></output>
<div class="buttons"><label for="pick" class="sr">Choose a {escape(noun)}</label>
<select id="pick"></select><button id="another" type="button">Another {escape(noun)}</button>
<button id="wrong" type="button" hidden>One it gets wrong</button></div></div>
<p class="notes" id="notes" hidden></p><div class="controls" id="controls"></div>
<details id="more-controls" hidden><summary></summary><div class="controls"></div></details>
<noscript>Without JavaScript the page shows the first {escape(noun)} only.</noscript></div>
<div class="net"><div class="wide">{_inline(wide)}</div>
<div class="narrow">{_inline(narrow)}</div></div>
<div id="tip" hidden></div>
<dialog id="large" aria-labelledby="large-head"><form method="dialog"><h3 id="large-head"></h3>
<button aria-label="Close">×</button></form><div id="large-plot"></div><p id="large-words"></p>
</dialog>"""


def _inline(figure: Figure) -> str:
    """Give a figure for the page: without style of its own, the heading cut off."""
    svg = re.sub(r"<style>.*?</style>\n?", "", figure.svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'<rect class="page"[^>]*/>\n?', "", svg, count=1)
    heads = [
        label.y for label in figure.labels if label.size in ("title", "sub") and label.y < 150
        and label.anchor == "start" and label.x < 40
    ]  # fmt: skip
    top, side = (max(heads) + 8, _SIDE) if heads else (0.0, 0.0)
    width, height = figure.width - 2 * side, figure.height - top
    box = f'viewBox="{side:g} {top:g} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    svg = re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', box, svg, count=1)
    return re.sub(r'class="nw[^"]*"', 'class="figure"', svg, count=1)


# ---- one row ----


def write_row(facts: Facts) -> str:
    """Write what the network makes of the chosen row, and what would change its answer."""
    noun = facts.words.noun
    if facts.classes is None:
        flips = '<h3 id="flip-head">What one input alone can do</h3>'
    else:
        flips = f'<h3 id="flip-head">What must change to flip this {escape(noun)}?</h3>'
    held = ", ".join(tell(facts.model.schema.names[i]) for i in facts.fixed)
    fixed = f"Held fixed: {held}. " if held else ""
    neurons = "".join(_write_neuron(facts, neuron) for neuron in facts.diagram.neurons)
    rules = ""
    if facts.rules is not None and facts.rules.form != "points":
        rules = f'<p class="small muted">The deciding rule is marked in “{name_rules(facts)}”.</p>'
    return f"""<h2>This {escape(noun)}</h2><p class="lede" id="tell"></p>{rules}
<div class="two"><div><figure id="waterfall"></figure>{flips}<ul class="flip" id="flips"></ul>
<p class="small muted">{fixed}<span id="flip-note"></span> The model describes these data; it does
not say what an action would do.</p></div>
<div class="scroll"><table class="margins"><thead><tr><th scope=col>reads</th>
<th scope=col>function</th><th scope=col>value</th><th scope=col class="num">adds</th></tr></thead>
{neurons}</table></div></div>"""


def _write_neuron(facts: Facts, neuron: Neuron) -> str:
    functions: list[Function] = [*neuron.functions, *neuron.folded]
    if facts.is_crisp:  # each condition has its own margin
        functions = [member for function in functions for member in function.members]
    functions.sort(key=lambda f: -f.influence)
    most = _MOST_PARTS if len(facts.diagram.neurons) <= 3 else _FEW_PARTS
    most += len(functions) == most + 1  # one more takes no more room than its number
    shown, rest = functions[:most], functions[most:]
    head = ""
    if len(facts.diagram.neurons) > 1:
        lead = _LEAD[neuron.aggregation]
        head = f"<tr><th colspan=4 scope=rowgroup>{tell(neuron.name)} {lead}</th></tr>"
    lines = "".join(_write_part(function) for function in shown)
    end = _write_amount(neuron) if facts.classes is None and _is_output(facts, neuron) else ""
    return f"<tbody>{head}{lines}{_write_rest(rest)}{_write_total(neuron)}{end}</tbody>"


def _is_output(facts: Facts, neuron: Neuron) -> bool:
    return neuron.layer == len(facts.model.layers)


def _write_amount(neuron: Neuron) -> str:
    """Write what comes of the total of an amount."""
    word, size = ("less", neuron.centre) if neuron.centre > 0 else ("plus", -neuron.centre)
    extra = f'<tr><td colspan=3>{word}</td><td class="num">{shorten(size, 6)}</td></tr>'
    return (
        f"{extra if neuron.centre else ''}"
        f'<tr class="sum"><td colspan=3>{tell(neuron.name)}</td>'
        f'<td class="num" data-out="amount" data-class="{neuron.number - 1}"></td></tr>'
    )


def _write_part(function: Function) -> str:
    key, first = function.key, function.members[0].key
    return (
        f'<tr data-fn="{key}"><th scope=row>{tell(function.name)}</th>'
        f"<td>{tell(function.reading)}</td>"
        f'<td class="held" data-margin="{first}"></td><td class="num" data-part="{key}"></td></tr>'
    )


def _write_rest(rest: Sequence[Function]) -> str:
    if not rest:
        return ""
    keys = " ".join(function.key for function in rest)
    return (
        f"<tr><td colspan=3>{count(len(rest), 'smaller function')}</td>"
        f'<td class="num" data-part="{keys}"></td></tr>'
    )


def _write_total(neuron: Neuron) -> str:
    names = {"sum": "total", "min": "least", "max": "greatest"}
    word = names.get(neuron.aggregation, neuron.aggregation)
    return (
        f'<tr class="sum"><td colspan=3>{word}</td>'
        f'<td class="num" data-sum="{neuron.key}"></td></tr>'
    )
