"""What ``newron fit`` prints: the table, how right the network is, the network, the files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from newron._version import __version__
from newron.command.chart import draw_chart
from newron.command.fitted import Fitted
from newron.command.measuring import NETWORK, Measurement
from newron.command.outputs import Outputs
from newron.command.prove import to_dict
from newron.command.reading import find_card, show_model, show_proof
from newron.command.tables import Source, Table
from newron.command.terminal import WIDTH, Page, Part, bold, count, dim, tell_number
from newron.model import Model
from newron.model.frame import Label
from newron.shapes.sentence import shorten

__all__ = ["begin", "tell", "tell_files"]

_MOST_NAMED = 6
_MISSED = 0.15  # of a class: from here on it is worth a note


# ---- the table ----


def begin(page: Page, source: Source, table: Table) -> None:
    """Print what was read, before training takes its time."""
    if not page.talks:
        return
    inputs = count(len(table.fields), "input")
    head = f"{source.path.name}: {count(len(table), 'row')}, {inputs}, {_tell_target(table)}"
    first, *more = page.wrap(f"newron {__version__} · {head}")
    page.line(bold("newron"), dim(first.removeprefix("newron")))
    told = [*more, *page.wrap(_tell_columns(table))]
    for line in told if source.form == "CSV with commas" else [*told, source.form]:
        page.line(dim(f"  {line}"))
    for name, why in table.left_out.items():
        page.record("left out", f"{name}: {why}")
    for note in table.notes:
        page.record("note", note)
    page.line()


def _tell_target(table: Table) -> str:
    target = table.target
    if target.labels is None:
        low, high = shorten(float(target.values.min())), shorten(float(target.values.max()))
        return f"target {target.name} (amounts, {low} to {high})"
    counts = sorted(target.count_classes().items(), key=lambda item: -item[1])
    told = ", ".join(count(n, _name_class(x), _name_class(x)) for x, n in counts[:_MOST_NAMED])
    more = f", {count(len(counts) - _MOST_NAMED, 'more class', 'more classes')}"
    return f"target {target.name} ({told}{more if len(counts) > _MOST_NAMED else ''})"


def _name_class(label: Label) -> str:
    return label if isinstance(label, str) else f"class {label}"


def _tell_columns(table: Table) -> str:
    n_kinds = len(table.places_of_categories)
    kinds = [
        count(n, noun, plural)
        for n, noun, plural in (
            (len(table.fields) - n_kinds, "number", None),
            (n_kinds, "category", "categories"),
        )
        if n
    ]
    told = ", ".join(kinds)
    if not table.gaps:
        return told
    most = sorted(table.gaps.items(), key=lambda item: -item[1])
    named = ", ".join(f"{name} {tell_number(n)}" for name, n in most[:_MOST_NAMED])
    rest = ", …" if len(most) > _MOST_NAMED else ""
    return f"{told} · {count(sum(table.gaps.values()), 'value')} missing: {named}{rest}"


# ---- the result ----


def tell(page: Page, fitted: Fitted, outputs: Outputs, written: Mapping[str, str]) -> None:
    """Print the result, as text or as JSON."""
    if page.as_json:
        page.data(_to_dict(fitted, outputs, written))
        return
    if page.quiet:
        return
    page.line()
    if fitted.measured is None:
        page.line("  Not measured: no rows were held out.")
    else:
        _tell_measured(page, fitted, fitted.measured)
    page.line(f"  {_tell_network(fitted.model)}")
    if fitted.measured is not None and page.width >= WIDTH:
        page.line()
        _draw_scores(page, fitted, fitted.measured)
    page.line()
    show_model(page, fitted.model, fitted.rules, next(iter(written)))
    page.line()
    _tell_notes(page, fitted)
    tell_files(page, outputs, written)
    _tell_next(page, fitted, outputs)


def _tell_measured(page: Page, fitted: Fitted, measured: Measurement) -> None:
    found = measured.scores[NETWORK]
    if measured.explained is None:
        page.line(
            bold(
                f"  Right for {_percent(found.value)} % of new rows, 95 % interval "
                f"{_percent(found.low)} to {_percent(found.high)}."
            )
        )
    else:
        page.line(
            bold(
                f"  Off by {shorten(found.value, 3)} on average for new rows, 95 % interval "
                f"{shorten(found.low, 3)} to {shorten(found.high, 3)}."
            )
        )
        page.line(f"  Explains {_percent(measured.explained)} % of the variation (R²).")
    page.line(f"  {_tell_how(fitted, measured)}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".replace("-", "−")


def _tell_how(fitted: Fitted, measured: Measurement) -> str:
    if measured.n_folds:
        rows = count(measured.n_rows, "row")
        return f"Measured in {measured.n_folds} folds; the network below is trained on all {rows}."
    rest = count(len(fitted.table) - measured.n_rows, "row")
    held = count(measured.n_rows, "row")
    return f"Measured on {held} held out; the network below is trained on the other {rest}."


def _tell_network(model: Model) -> str:
    *hidden, last = model.layers
    if hidden:
        widths = " and ".join(count(layer.n_neurons, "neuron") for layer in hidden)
        layers = "One hidden layer" if len(hidden) == 1 else f"{len(hidden)} hidden layers"
        return f"{layers}: {widths}, {count(model.n_functions, 'function')}."
    if find_card(model) is not None:
        return "No hidden layer: a score card."
    return f"No hidden layer: {count(len(last.source), 'function')}."


def _draw_scores(page: Page, fitted: Fitted, measured: Measurement) -> None:
    amounts = measured.explained is not None
    what = "this score card" if find_card(fitted.model) is not None else "this network"
    names = {NETWORK: what, "constant": f"always {_tell_constant(fitted.table)}"}
    size = 1.0 if amounts else 100.0
    rows = [(names.get(name, name), found.scale(size)) for name, found in measured.scores.items()]
    draw_chart(page, rows, unit="off" if amounts else "%", most=np.inf if amounts else 100.0)


def _tell_constant(table: Table) -> str:
    target = table.target
    if target.labels is None:
        return f"{shorten(float(np.median(target.values)), 3)} (the median)"
    most = max(target.count_classes().items(), key=lambda item: item[1])[0]
    return f"“{_name_class(most)}”"


def _tell_notes(page: Page, fitted: Fitted) -> None:
    model, rules = fitted.model, fitted.rules
    if rules is not None:
        what = "the card" if find_card(model) is not None else "the text of the rules"
        proof = rules.proof
        show_proof(page, proof, what, "" if proof else fitted.count_agreement())
    if fitted.unused:
        shown = ", ".join(fitted.unused[:_MOST_NAMED])
        rest = f" and {len(fitted.unused) - _MOST_NAMED} more" * (len(fitted.unused) > _MOST_NAMED)
        page.record("not used", f"{shown}{rest}")
    note = _tell_missed(fitted)
    if note:
        page.record("note", note)


def _tell_missed(fitted: Fitted) -> str:
    """Tell if many rows of the rarer of two classes are missed."""
    measured = fitted.measured
    if measured is None or measured.missed is None or len(measured.missed) != 2:
        return ""
    label, (n, missed) = min(measured.missed.items(), key=lambda item: item[1][0])
    if not n or missed / n < _MISSED or fitted.settings.class_weight is not None:
        return ""
    return (
        f"{tell_number(missed)} of {count(n, 'row')} of {_name_class(label)} are missed. To find "
        "more of them, at the price of more false alarms: --class-weight balanced"
    )


def tell_files(page: Page, outputs: Outputs, written: Mapping[str, str]) -> None:
    """Print where the files are, and what they are."""
    page.line()
    page.line(bold("  Written" if outputs.alone else f"  Written to {outputs.path}/"))
    width = max(map(len, written))
    for name, what in written.items():
        page.line(f"    {name:{width}}   ", dim(what))


def _tell_next(page: Page, fitted: Fitted, outputs: Outputs) -> None:
    data, model = shlex.quote(str(fitted.source.path)), shlex.quote(str(outputs.model))
    lines: list[tuple[str, str]] = [
        (f"newron explain {model} {data} --row 1", ""),
        (f"newron predict {model} new_rows.csv", ""),
    ]
    if fitted.settings.hidden == ():
        target = shlex.quote(fitted.table.target.name)
        lines.append((f"newron fit {data} --target {target} --hidden 2", "allow a hidden layer"))
    page.line()
    page.line(bold("  Next"))
    for line, what in lines:
        parts: list[Part] = [f"    {line}", dim(f"     {what}" if what else "")]
        page.line(*parts)


# ---- for machines ----


def _to_dict(fitted: Fitted, outputs: Outputs, written: Mapping[str, str]) -> dict[str, Any]:
    table, model = fitted.table, fitted.model
    return {
        "data": str(fitted.source.path),
        "form": fitted.source.form,
        "rows": len(table),
        "inputs": [_describe_field(field.name, field.categories) for field in table.fields],
        "missing": dict(table.gaps),
        "left out": dict(table.left_out),
        "notes": list(table.notes),
        "target": {
            "name": table.target.name,
            "classes": None
            if table.target.labels is None
            else [{"class": c, "rows": n} for c, n in table.target.count_classes().items()],
        },
        "measured": None if fitted.measured is None else _describe(fitted.measured),
        "output": model.to_dict()["output"],
        "fingerprint": model.fingerprint,
        "functions": model.n_functions,
        "hidden": [layer.n_neurons for layer in model.layers[:-1]],
        "not used": fitted.unused,
        "rules": None if fitted.rules is None else fitted.rules.to_text(notes=False),
        "proof": None if fitted.rules is None else to_dict(fitted.rules.proof),
        "seconds": round(fitted.seconds, 3),
        "files": outputs.locate(written),
    }


def _describe_field(name: str, categories: tuple[Label, ...] | None) -> dict[str, Any]:
    if categories is None:
        return {"name": name, "kind": "number"}
    return {"name": name, "kind": "category", "categories": list(categories)}


def _describe(measured: Measurement) -> dict[str, Any]:
    kind = "share of rows that are right" if measured.explained is None else "mean distance"
    return {
        "how": f"{measured.n_folds} folds" if measured.n_folds else "held out",
        "rows": measured.n_rows,
        "kind": kind,
        "scores": {
            name: {"value": x.value, "low": x.low, "high": x.high}
            for name, x in measured.scores.items()
        },
        "explained": measured.explained,
    }
