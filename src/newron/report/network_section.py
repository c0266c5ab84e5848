"""The sections that live: the network with its controls, and one row through it."""

from __future__ import annotations

from collections.abc import Sequence

from newron.drawing.markup import Markup, bdi, html, join
from newron.drawing.svg import write_inline
from newron.figures.diagram import Function, Neuron
from newron.figures.figure import Picture
from newron.formatting import format_rounded, format_signed
from newron.model.description import describe_aggregation, name_neurons
from newron.model.terms import Terms
from newron.report.facts import Facts
from newron.report.numbers import count
from newron.report.rules_section import name_rules

_MAX_PARTS, _FEW_PARTS = 16, 5  # functions of a neuron that have a line; of many neurons
_SIDE = 16.0  # what is cut off the margin of a wide figure
_TOTALS = {"sum": "total", "min": "least", "max": "greatest"}

_NETWORK = Markup("""<h2>The network, live</h2>
<p>Change a value and follow it: the dot moves on its function, a line stands out while the
function is on, and the sum moves along the answer. The blue marks on a slider are {marks}. Click a
function, or press Enter on it, to see it large.</p>
<div class="panel"><div class="live"><output id="live" role="status"></output>
<div class="buttons"><label for="pick" class="sr">Choose a {noun}</label>
<select id="pick"></select><button id="another" type="button">Another {noun}</button>
<button id="wrong" type="button" hidden>One it gets wrong</button></div></div>
<p class="notes" id="notes" hidden></p><div class="controls" id="controls"></div>
<details id="more-controls" hidden><summary></summary><div class="controls"></div></details>
<noscript>Without JavaScript the page shows the first {noun} only.</noscript></div>
<div class="net"><div class="wide">{wide}</div>
<div class="narrow">{narrow}</div></div>
<div id="tip" hidden></div>
<dialog id="large" aria-labelledby="large-head"><form method="dialog"><h3 id="large-head"></h3>
<button aria-label="Close">×</button></form><div id="large-plot"></div><p id="large-words"></p>
</dialog>""")

_ROW = Markup("""<h2>This {noun}</h2><p class="lede" id="summary"></p>{rules}
<div class="two"><div><figure id="waterfall"></figure><h3 id="flip-head">{head}</h3>\
<ul class="flip" id="flips"></ul>
<p class="small muted">{fixed}<span id="flip-note"></span> The model describes these data; it does
not say what an action would do.</p></div>
<div class="scroll"><table class="margins"><thead><tr><th scope=col>reads</th>
{function}<th scope=col>value</th><th scope=col class="num">adds</th></tr></thead>
{neurons}</table>{hidden}</div></div>""")
_HIDDEN = Markup("""<details class="hidden-neurons"><summary>How {neurons} comes about</summary>
<table class="margins">{rows}</table></details>""")
_FUNCTION = Markup("<th scope=col>function</th>")


def write_network(facts: Facts) -> Markup:
    """Return the network, its controls and buttons to choose rows."""
    wide, narrow = map(_inline, facts.pictures)
    marks = "thresholds" if facts.is_crisp else "where a function turns"
    return _NETWORK.format(marks=marks, noun=facts.labels.noun, wide=wide, narrow=narrow)


def _inline(picture: Picture) -> Markup:
    """Return a figure for the page, its heading cut off."""
    top = picture.scene.heading
    title, description = picture.diagram.title, picture.description
    side = _SIDE if top else 0.0
    return write_inline(picture.scene, title=title, description=description, top=top, side=side)


# ---- one row ----


def write_row(facts: Facts) -> Markup:
    """Return what the network makes of the chosen row, and what would change its answer."""
    noun = facts.labels.noun
    fixed = Markup(", ").join(bdi(facts.model.schema.names[i]) for i in facts.fixed)
    rules = None
    if facts.rules is not None and facts.rules.form != "points":
        text = f"The deciding rule is marked in “{name_rules(facts)}”."
        rules = html("p", text, class_="small muted")
    return _ROW.format(
        noun=noun,
        rules=rules or "",
        head="What one input alone can do"
        if facts.classes is None
        else f"What must change to flip this {noun}?",
        fixed=join("Held fixed: ", fixed, ". ") if fixed else "",
        function=_FUNCTION if facts.terms is None else "",
        neurons=join(_write_neuron(facts, neuron) for neuron in facts.diagram.layers[-1])
        if facts.terms is None
        else _write_terms(facts, facts.terms),
        hidden=_write_hidden(facts) or "",
    )


def _write_hidden(facts: Facts) -> Markup | None:
    """Return what hidden neurons make of the row, which a reader opens."""
    hidden = [neuron for layer in facts.diagram.layers[:-1] for neuron in layer]
    if facts.terms is not None or not hidden:
        return None
    what = "the hidden neuron" if len(hidden) == 1 else f"each of the {len(hidden)} hidden neurons"
    return _HIDDEN.format(neurons=what, rows=join(_write_neuron(facts, one) for one in hidden))


def describe_count(facts: Facts, function: Function) -> str | None:
    """Return the conditions that a condition on a hidden neuron counts; None of others."""
    n = len(facts.model.schema)
    if function.signal < n or not facts.is_crisp:
        return None
    places = {facts.diagram.find_signal(one): one for one in facts.diagram.neurons}
    source = places.get(function.signal)
    if source is None or not source.counts:
        return None
    parts = [one.head for f in (*source.functions, *source.folded) for one in f.members]
    return f"{function.reading} of: " + "; ".join(parts)


def _write_terms(facts: Facts, terms: Terms) -> Markup:
    """Return what columns and pairs of a smooth network add to each score."""
    names = name_neurons(facts.model, len(facts.model.layers))
    return join(_write_score(terms, k, name, len(names) > 1) for k, name in enumerate(names))


def _write_score(terms: Terms, k: int, name: str, several: bool) -> Markup:
    last = terms.model.layers[-1]
    order = [t for t, term in enumerate(terms.terms) if (last.target[list(term.edges)] == k).any()]
    lines = [
        html(
            "tr",
            html("th", bdi(terms.terms[t].name), scope="row"),
            html("td", data_reads=t),
            html("td", class_="num", data_term=f"{t}:{k}"),
        )
        for t in order
    ]
    start = html("td", format_signed(terms.intercept[k], 4), class_="num")
    return html(
        "tbody",
        html("tr", html("th", bdi(name), colspan=3, scope="rowgroup")) if several else None,
        lines[:_MAX_PARTS],
        _write_folded(lines[_MAX_PARTS:]),
        html("tr", html("td", "to start with", colspan=2), start),
        html(
            "tr", html("td", "sum", colspan=2), html("td", class_="num", data_score=k), class_="sum"
        ),
    )


def _write_folded(lines: Sequence[Markup]) -> Markup | None:
    """Return lines that a reader opens."""
    if not lines:
        return None
    inner = html("details", html("summary", f"{len(lines)} more"), html("table", lines))
    return html("tr", html("td", inner, colspan=3))


def _write_neuron(facts: Facts, neuron: Neuron) -> Markup:
    functions: list[Function] = [*neuron.functions, *neuron.folded]
    if facts.is_crisp:  # each condition has its own margin
        functions = [member for function in functions for member in function.members]
    functions.sort(key=lambda f: -f.influence)
    limit = _MAX_PARTS if len(facts.diagram.neurons) <= 3 else _FEW_PARTS
    limit += len(functions) == limit + 1  # one more takes no more room than its number
    head, kind = None, str(neuron.aggregation)
    if len(facts.diagram.neurons) > 1:
        verb = describe_aggregation(neuron.aggregation)
        name = html("th", bdi(neuron.name), f" {verb}", colspan=4, scope="rowgroup")
        head = html("tr", name)
    is_target = facts.classes is None and neuron.layer == len(facts.model.layers)
    return html(
        "tbody",
        head,
        (_write_part(facts, function) for function in functions[:limit]),
        _write_rest(functions[limit:]),
        _write_sum(_TOTALS.get(kind, kind), data_sum=neuron.key),
        _write_target(neuron) if is_target else None,
    )


def _write_part(facts: Facts, function: Function) -> Markup:
    return html(
        "tr",
        html("th", bdi(function.name), scope="row"),
        html("td", bdi(describe_count(facts, function) or function.reading)),
        html("td", html("bdi", data_margin=function.members[0].key), class_="held"),
        html("td", class_="num", data_part=function.key),
        data_fn=function.key,
    )


def _write_rest(rest: Sequence[Function]) -> Markup | None:
    if not rest:
        return None
    keys = " ".join(function.key for function in rest)
    head = html("td", count(len(rest), "smaller function"), colspan=3)
    return html("tr", head, html("td", class_="num", data_part=keys))


def _write_target(neuron: Neuron) -> Markup:
    """Return what comes of the total of a regression target."""
    extra = None
    if neuron.centre:
        word = "less" if neuron.centre > 0 else "plus"
        size = format_rounded(abs(neuron.centre), 6)
        extra = html("tr", html("td", word, colspan=3), html("td", size, class_="num"))
    return join(
        extra, _write_sum(bdi(neuron.name), data_out="amount", data_class=neuron.number - 1)
    )


def _write_sum(name: str, **attributes: str | int) -> Markup:
    number = html("td", class_="num", **attributes)
    return html("tr", html("td", name, colspan=3), number, class_="sum")
