"""What ``newron fit`` prints: the table, how good the network is, the network, the files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from newron._version import __version__
from newron.command.advice import describe_better, list_fit_notes
from newron.command.fit_result import NETWORK, FitResult
from newron.command.outputs import CARD, RULES, SHAPES, Outputs
from newron.command.printing import draw_chart, find_card, print_model, print_proof
from newron.command.terminal import WIDTH, Console, bold, dim
from newron.evaluation import ClassificationQuality, Estimate, Evaluation, RegressionQuality
from newron.formatting import (
    format_count,
    format_integer,
    format_rounded,
    list_some,
    name_class,
)
from newron.model import Model
from newron.model.measurement import describe_score
from newron.tables import Field, LabelledTable, Target
from newron.training.path import ModelPath

_MAX_NAMED = 6
_MAX_SIZES = 8  # of the path


# ---- the table ----


def print_table(console: Console, data: Path, table: LabelledTable) -> None:
    """Print what was read, before training takes its time."""
    if not console.verbose:
        return
    size = f"{format_count(table.n_rows, 'row')}, {format_count(len(table.X.fields), 'input')}"
    head = f"{data.name}: {size}, {_describe_target(table)}"
    first, *more = console.wrap(f"newron {__version__} · {head}")
    console.print(bold("newron"), dim(first.removeprefix("newron")))
    lines = [*more, *console.wrap(_describe_columns(table))]
    for line in lines if table.form == "CSV with commas" else [*lines, table.form]:
        console.print(dim(f"  {line}"))
    for name, why in table.left_out.items():
        console.print_record("left out", f"{name}: {why}")
    for note in list_notes(table):
        console.print_record("note", note)
    console.print()


def _describe_target(table: LabelledTable) -> str:
    y = table.y
    if y.labels is None:
        low, high = format_rounded(y.values.min()), format_rounded(y.values.max())
        about = "" if table.whole is None else "about "
        return f"target {y.name} (numbers, {about}{low} to {high})"
    counts = sorted(table.count_classes().items(), key=lambda item: -item[1])
    words = [
        f"{format_integer(n)} {name_class(label)}".replace(" ", "\u00a0")
        for label, n in counts[:_MAX_NAMED]
    ]
    if len(counts) > _MAX_NAMED:
        words.append(format_count(len(counts) - _MAX_NAMED, "more class", "more classes"))
    return f"target {y.name} ({', '.join(words)})"


def _describe_columns(table: LabelledTable) -> str:
    n_categorical = len(table.X.categorical)
    kinds = {"number": len(table.X.fields) - n_categorical, "category": n_categorical}
    words = ", ".join(format_count(n, noun) for noun, n in kinds.items() if n)
    if not table.missing:
        return words
    most = sorted(table.missing.items(), key=lambda item: -item[1])
    named = ", ".join(f"{name} {format_integer(n)}" for name, n in most[:_MAX_NAMED])
    rest = ", …" if len(most) > _MAX_NAMED else ""
    return f"{words} · {format_count(sum(table.missing.values()), 'value')} missing: {named}{rest}"


def list_notes(table: LabelledTable) -> list[str]:
    """Return what else should be known of a table."""
    notes = list(table.notes)
    if table.y.ordered and table.y.labels is not None:
        notes.append(
            f"ordered classes, {' < '.join(map(str, table.y.labels))}: one score with limits "
            "between them; a score for each class: --objective log_loss"
        )
    if table.y.labels is not None and len(table.y.labels) == 2:
        first, second = map(name_class, table.y.labels)
        notes.append(
            f"points and probabilities are for {second}; for {first}: "
            f"--positive {shlex.quote(str(table.y.labels[0]))}"
        )
    if table.n_unlabelled:
        rows = format_count(table.n_unlabelled, "row has", "rows have")
        notes.append(f"{rows} no {table.y.name}: left out")
    for name, words in table.odd_words.items():
        (word, n), more = words[0], f" and {len(words) - 1} more words" * (len(words) > 1)
        notes.append(
            f"{name} is read as text because of {word!r} in {format_count(n, 'row')}{more}; if "
            f"that means missing: --missing {shlex.quote(word)}"
        )
    return notes


# ---- the result ----


def print_result(
    console: Console, result: FitResult, outputs: Outputs, written: Mapping[str, str]
) -> None:
    """Print the result, as text or as JSON."""
    if console.as_json:
        console.print_json(_to_dict(result, outputs, written))
    if not console.verbose:
        return
    console.print()
    _print_quality(console, result)
    console.print(f"  {_describe_network(result.model)}")
    if result.evaluation is not None and console.width >= WIDTH:
        console.print()
        _draw_qualities(console, result, result.evaluation)
    if result.path is not None and result.path.is_measured and len(result.path) > 1:
        console.print()
        _print_path(console, result.path)
    console.print()
    print_model(console, result.model, result.rules, _locate_text(result, outputs, written))
    console.print()
    _print_notes(console, result)
    print_files(console, outputs, written)
    _print_next(console, result, outputs)


def _locate_text(result: FitResult, outputs: Outputs, written: Mapping[str, str]) -> str:
    """Return where the whole text of a network is: a file, or the command that prints it."""
    for name in (CARD, RULES, SHAPES):
        if name in written:
            return name
    command = "inspect" if result.rules is None else "rules"
    return f"newron {command} {shlex.quote(str(outputs.model))}"


def _print_quality(console: Console, result: FitResult) -> None:
    if result.evaluation is None:
        console.print("  Not measured: there are no test rows.")
        return
    quality = result.evaluation.qualities[NETWORK]
    name = "Mean absolute error" if isinstance(quality, RegressionQuality) else "Accuracy"
    score = describe_score(name.lower(), _get_estimate(quality))
    console.print(bold(f"  {name} on new rows {score}."))
    if isinstance(quality, RegressionQuality):
        r2 = 0.0 if quality.r2 is None else quality.r2.value
        console.print(f"  R² {format_rounded(r2)}: the part of the variance that is explained.")
    n_rows, trained = map(_count_rows, (result.evaluation.n_rows, result.n_trained))
    if result.plan.n_folds:
        folds = f"{result.plan.n_folds}-fold cross-validation"
        console.print(f"  Measured by {folds}; the network below is trained on all {n_rows}.")
    else:
        console.print(f"  Measured on {n_rows} apart; the network below is trained on {trained}.")


def _count_rows(n: int) -> str:
    return format_count(n, "row")


def _describe_network(model: Model) -> str:
    *hidden, last = model.layers
    if hidden:
        widths = " and ".join(format_count(layer.n_neurons, "neuron") for layer in hidden)
        layers = "One hidden layer" if len(hidden) == 1 else f"{len(hidden)} hidden layers"
        return f"{layers}: {widths}, {format_count(model.n_functions, 'function')}."
    if find_card(model) is not None:
        return "No hidden layer: a score card."
    noun = "condition" if model.is_crisp else "function"
    return f"No hidden layer: {format_count(len(last.source), noun)}."


def _draw_qualities(console: Console, result: FitResult, evaluation: Evaluation) -> None:
    what = "this network" if find_card(result.model) is None else "this score card"
    names = {NETWORK: what, "constant": f"always {_describe_constant(result.table.y)}"}
    estimates = {names.get(k, k): _get_estimate(q) for k, q in evaluation.qualities.items()}
    if result.table.y.labels is None:
        draw_chart(console, list(estimates.items()), unit="error")
    else:
        percents = [(name, estimate.scale(100.0)) for name, estimate in estimates.items()]
        draw_chart(console, percents, unit="%", limit=100.0)


def _print_path(console: Console, path: ModelPath) -> None:
    """Print how good shorter and longer networks are, in two lines."""
    places = _choose_places(path)
    percent = path.metric == "accuracy"
    scores = [100.0 * path.score[i] if percent else path.score[i] for i in places]
    sizes = [
        f"[{path.sizes[i]}]" if path.sizes[i] == path.chosen else f"{path.sizes[i]} "
        for i in places
    ]
    digits = 1 if percent else 3
    heads = (path.unit.capitalize(), "Accuracy, %" if percent else "R²")
    lines = (sizes, [f"{score:.{digits}f} " for score in scores])
    for head, cells in zip(heads, lines, strict=True):
        console.print(f"  {head:<12}" + "".join(f"{cell:>7}" for cell in cells))
    console.print(dim("  on validation rows within the training rows; --size N takes another"))


def _choose_places(path: ModelPath) -> list[int]:
    """Return up to eight sizes to show: the chosen one, the longest, and some others."""
    listed = (1, 2, 3, 5, 8, 12, 20)
    shown = {path.sizes.index(path.chosen), len(path) - 1}
    for size in listed:
        if size in path.sizes and len(shown) < _MAX_SIZES:
            shown.add(path.sizes.index(size))
    return sorted(shown)


def _get_estimate(quality: ClassificationQuality | RegressionQuality) -> Estimate:
    return quality.mae if isinstance(quality, RegressionQuality) else quality.accuracy


def _describe_constant(y: Target) -> str:
    if y.labels is None:
        return f"{format_rounded(float(np.median(y.values)))} (the median)"
    most = max(y.count_classes().items(), key=lambda item: item[1])[0]
    return f"“{name_class(most)}”"


def _print_notes(console: Console, result: FitResult) -> None:
    if result.rules is not None:
        what = "the text of the rules" if find_card(result.model) is None else "the card"
        proof, agreement = result.rules.proof, ""
        if not proof:
            agreement = (
                f"agreement on {result.count_agreement()} of {_count_rows(len(result.table))}"
            )
        print_proof(console, proof, f"{what} equals", agreement)
    if result.unused:
        console.print_record("not used", list_some(result.unused, _MAX_NAMED))
    for note in list_fit_notes(result):
        console.print_record("note", note)


def print_files(console: Console, outputs: Outputs, written: Mapping[str, str]) -> None:
    """Print where the files are, and what they are."""
    console.print()
    console.print(bold("  Written" if outputs.alone else f"  Written to {outputs.path}/"))
    width = max(map(len, written))
    for name, what in written.items():
        console.print(f"    {name:{width}}   ", dim(what))


def _print_next(console: Console, result: FitResult, outputs: Outputs) -> None:
    data, model = shlex.quote(str(result.data)), shlex.quote(str(outputs.model))
    console.print()
    console.print(bold("  Next"))
    console.print(f"    newron explain {model} {data} --row 1")
    console.print(f"    newron predict {model} new_rows.csv")
    if result.options.hidden == ():
        target = shlex.quote(result.table.y.name)
        line = f"    newron fit {data} --target {target} --hidden 2"
        console.print(line, dim("     allow a hidden layer"))


# ---- for machines ----


def _to_dict(result: FitResult, outputs: Outputs, written: Mapping[str, str]) -> dict[str, Any]:
    table, model, rules = result.table, result.model, result.rules
    classes = None
    if table.y.labels is not None:
        classes = [{"class": c, "rows": n} for c, n in table.count_classes().items()]
    return {
        "data": str(result.data),
        "form": table.form,
        "rows": table.n_rows,
        "inputs": list(map(_describe_field, table.X.fields)),
        "missing": dict(table.missing),
        "left out": dict(table.left_out),
        "notes": list_notes(table),
        "target": {"name": table.y.name, "classes": classes},
        "measured": None if result.evaluation is None else _describe_quality(result),
        "output": model.to_dict()["output"],
        "fingerprint": model.fingerprint,
        "functions": model.n_functions,
        "path": None if result.path is None else result.path.to_dict(),
        "hidden": [layer.n_neurons for layer in model.layers[:-1]],
        "not used": result.unused,
        "rules": None if rules is None else rules.to_text(notes=False),
        "proof": None if rules is None else rules.proof.to_dict(),
        "seconds": round(result.seconds, 3),
        "files": outputs.locate(written),
    }


def _describe_field(field: Field) -> dict[str, Any]:
    if field.categories is None:
        return {"name": field.name, "kind": "number"}
    return {"name": field.name, "kind": "category", "categories": list(field.categories)}


def _describe_quality(result: FitResult) -> dict[str, Any]:
    evaluation = result.evaluation
    assert evaluation is not None  # noqa: S101 - the caller looked
    quality = evaluation.qualities[NETWORK]
    regression = isinstance(quality, RegressionQuality)
    return {
        "how": f"{result.plan.n_folds} folds" if result.plan.n_folds else "test rows",
        "rows": evaluation.n_rows,
        "kind": "mean absolute error" if regression else "accuracy",
        "scores": {k: _get_estimate(q).to_dict() for k, q in evaluation.qualities.items()},
        "note": describe_better(result),
        "r2": quality.r2.value if isinstance(quality, RegressionQuality) and quality.r2 else None,
    }
