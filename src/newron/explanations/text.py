"""One row's way through a network in words, line by line."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from newron.explanations.path import Part, Stage, subtract
from newron.formatting import (
    format_class,
    format_probability,
    format_rounded,
    format_signed,
    to_ascii,
)

if TYPE_CHECKING:
    from newron.explanations.explanation import Explanation

_MAX_NESTED = 4  # functions of a neuron that is described where it is read
_MAX_CLASSES = 3  # whose scores are all described function by function
_INDENT = "    "


def format_explanation(
    explanation: Explanation, max_functions: int, width: int, unicode: bool
) -> str:
    """Describe an explanation in words; see :meth:`Explanation.to_text`."""
    lines = _Formatter(explanation, max_functions, width, unicode).list_lines()
    more = [] if explanation.changes is None else str(explanation.changes).splitlines()
    wrapped = [_wrap(line, width) for line in [*more, *explanation.notes]]
    text = "\n".join([*lines, *([""] if wrapped else []), *wrapped])
    return text if unicode else to_ascii(text)


def _wrap(line: str, width: int) -> str:
    return textwrap.fill(
        line,
        width,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclass(frozen=True)
class _Line:
    """Cells of a line, and the lines below it."""

    cells: list[str]
    below: list[str]


class _Formatter:
    """Writes an explanation line by line; only the neurons that are named."""

    def __init__(
        self, explanation: Explanation, max_functions: int, width: int, unicode: bool
    ) -> None:
        self._explanation = explanation
        self._max_shown = max_functions
        self._width = width
        self._unicode = unicode
        self._stages = {(stage.layer, stage.neuron): stage for stage in explanation.stages}
        origins = [part.origin for stage in explanation.stages for part in stage.parts]
        self._uses = Counter(origin for origin in origins if origin is not None)
        self._named: list[tuple[int, int]] = []  # neurons with lines of their own
        crisp = all(stage.n_holding is not None for stage in explanation.stages)
        self._digits = 6 if crisp else 4

    def list_lines(self) -> list[str]:
        """Return all lines, neurons before those that read them."""
        if self._explanation.contributions:
            stages = self._choose_scores()
            lines = [line for stage in stages for line in self._list_contributions(stage)]
            return [*lines, *self._format_decision()]
        end = [line for stage in self._choose_scores() for line in self._list_stage(stage)]
        blocks: dict[tuple[int, int], list[str]] = {}
        for where in self._named:  # grows while neurons are described that name others
            if where not in blocks:
                blocks[where] = self._list_stage(self._stages[where])
        lines = [line for where in sorted(blocks) for line in blocks[where]]
        return [*lines, *end, *self._format_decision()]

    def _choose_scores(self) -> list[Stage]:
        """Return the scores that are described function by function: all, or the two highest."""
        scores = list(self._explanation.scores)
        if not self._explanation.probabilities or len(scores) <= _MAX_CLASSES:
            return scores
        best = sorted(scores, key=lambda stage: -stage.value)[:2]
        return [stage for stage in scores if stage in best]

    # ---- columns ----

    def _list_contributions(self, stage: Stage) -> list[str]:
        """Return what columns and pairs add to a score, the most first."""
        k = stage.neuron - 1
        own = [part for part in self._explanation.contributions if part.added[k]]
        parts = sorted(own, key=lambda part: -abs(part.added[k]))
        shown = parts[: self._max_shown] if len(parts) > self._max_shown + 1 else parts
        rest = parts[len(shown) :]
        cells = [(part.added[k], part.reading) for part in shown]
        if rest:
            cells.append((sum(part.added[k] for part in rest), f"{len(rest)} more together"))
        cells.append((self._explanation.intercepts[k], "to start with"))
        lines = [
            _Line([format_signed(value, self._digits), self._plain(text)], [])
            for value, text in cells
        ]
        return [self._format_heading(stage), *_line_up(lines, _INDENT)]

    # ---- the end ----

    def _format_decision(self) -> list[str]:
        parts_, scores = self._explanation, self._explanation.scores
        if not parts_.probabilities:
            return []
        if isinstance(parts_.prediction, dict):  # labels
            return [self._format_label(name, share) for name, share in parts_.probabilities]
        probability = format_probability(parts_.probability or 0.0)
        outcome = f"→ {format_class(parts_.prediction)} (probability {probability})"
        if len(scores) == 1:
            stage = scores[0]
            what = stage.aggregation if stage.aggregation in ("sum", "mean") else "score"
            total, centre = stage.total, stage.centre
            if parts_.contributions:
                total, centre = stage.value, 0.0
            limits = [centre + limit for limit in parts_.limits or (0.0,)]
            distance = _format_distance(total, limits, self._digits)
            return [f"{_INDENT}{what} {format_rounded(total, self._digits)}, {distance} {outcome}"]
        order = sorted(range(len(scores)), key=lambda k: -scores[k].value)
        ahead = subtract(scores[order[0]].value, scores[order[1]].value)
        gap = f"{format_rounded(ahead, self._digits)} ahead of" if ahead else "before its equal"
        return [f"{outcome}, {gap} {format_class(parts_.probabilities[order[1]][0])}"]

    def _format_label(self, name: Any, probability: float) -> str:
        there = "" if self._explanation.prediction[name] else "not "
        return f"→ {there}{format_class(name)} (probability {format_probability(probability)})"

    # ---- neurons ----

    def _list_stage(self, stage: Stage) -> list[str]:
        lines = [self._format_heading(stage), *self._list_parts(stage, _INDENT)]
        # The centre of the only score of classes is described as the limit of the sum.
        if stage.centre and not self._decides(stage) and not _is_count(stage):
            word, size = ("less", stage.centre) if stage.centre > 0.0 else ("plus", -stage.centre)
            lines.append(f"{_INDENT}{word} {format_rounded(size, self._digits)}")
        return lines

    def _decides(self, stage: Stage) -> bool:
        """Return whether a neuron is the only score of classes."""
        one = self._explanation.probabilities and len(self._explanation.scores) == 1
        return bool(one) and stage in self._explanation.scores

    def _format_heading(self, stage: Stage) -> str:
        n, held = len(stage.parts), stage.n_holding
        if self._decides(stage):
            return stage.name
        if stage in self._explanation.scores or not _is_count(stage):
            return f"{stage.name} = {format_rounded(stage.value, self._digits)}"
        if n == 1:
            return f"{stage.name}: {'holds' if held else 'does not hold'}"
        return f"{stage.name}: {held} of {n} hold"

    def _list_parts(self, stage: Stage, indent: str) -> list[str]:
        side_by_side = self._format_side_by_side(stage, indent)
        if side_by_side:
            return side_by_side
        groups = self._group(stage)
        shown = groups[: self._max_shown] if len(groups) > self._max_shown + 1 else groups
        crisp = stage.n_holding is not None
        list_lines = self._format_condition if crisp else self._format_curve
        lines = [list_lines(group, stage, indent) for group in shown]
        rest = [part for group in groups[len(shown) :] for part in group]
        return [*_line_up(lines, indent), *self._format_rest(stage, rest, indent)]

    def _group(self, stage: Stage) -> list[list[Part]]:
        """Return conditions one by one, curves by what they read; the strongest first."""
        groups: dict[Any, list[Part]] = {}
        for part in stage.parts:
            key = part.function if part.holds is not None else (part.source, part.origin)
            groups.setdefault(key, []).append(part)
        if _is_count(stage) and len(groups) <= self._max_shown + 1:
            return list(groups.values())
        return sorted(groups.values(), key=_measure_strength)

    def _format_side_by_side(self, stage: Stage, indent: str) -> list[str]:
        """Describe short conditions in a line, and below them what is; nothing if that is long."""
        parts = stage.parts
        short = all(part.origin is None and "," not in part.reading for part in parts)
        if len(parts) < 2 or not short or not _is_count(stage):
            return []
        top = [self._plain(part.condition or "") for part in parts]
        below = [self._plain(f"{_mark(part)} {part.reading}") for part in parts]
        widths = [max(map(len, pair)) + 3 for pair in zip(top, below, strict=True)]
        if len(indent) + sum(widths) > self._width:
            return []
        rows = [[x.ljust(n) for x, n in zip(row, widths, strict=True)] for row in (top, below)]
        return [(indent + "".join(row)).rstrip() for row in rows]

    def _format_condition(self, group: Sequence[Part], stage: Stage, indent: str) -> _Line:
        part = group[0]
        cells = [f"{_mark(part)} {part.condition}"]
        if not _is_count(stage):
            cells = [
                f"{_mark(part)} {format_signed(part.weight or 0.0, self._digits)}",
                part.condition or "",
            ]
        cells.append(f"is {part.reading}" if part.origin is None else part.reading)
        return _Line([self._plain(cell) for cell in cells], self._look_below(part, indent))

    def _format_curve(self, group: Sequence[Part], stage: Stage, indent: str) -> _Line:
        """Describe the functions that read one thing: what they add together, and each."""
        adds = stage.aggregation in ("sum", "mean")
        weighed = group[0].weight is not None
        values = [
            f"{format_rounded(part.weight or 0.0)} × {format_rounded(part.h)}"
            if weighed
            else format_rounded(part.h)
            for part in group
        ]
        alone = adds and not weighed and len(group) == 1
        cells = [
            f"{group[0].source} = {group[0].reading}",
            "" if alone else (" + " if adds else ", ").join(values),
        ]
        if adds:
            cells.insert(0, format_signed(sum(part.contribution for part in group), 3))
        return _Line([self._plain(cell) for cell in cells], self._look_below(group[0], indent))

    def _look_below(self, part: Part, indent: str) -> list[str]:
        """Describe a neuron where it is read, if that is once and it is short."""
        if part.origin is None:
            return []
        stage = self._stages[part.origin]
        if self._uses[part.origin] == 1 and len(stage.parts) <= _MAX_NESTED:
            return self._list_parts(stage, indent + _INDENT)
        self._named.append(part.origin)
        return []

    def _format_rest(self, stage: Stage, rest: Sequence[Part], indent: str) -> list[str]:
        if not rest:
            return []
        parts_ = f"{indent}… and {len(rest)} more"
        if stage.n_holding is not None:
            held = sum(bool(part.holds) for part in rest)
            parts_ += f", {held} of them hold" if held != 1 else ", one of them holds"
        if stage.aggregation in ("sum", "mean") and not _is_count(stage):
            parts_ += f", together {format_signed(sum(part.contribution for part in rest), 3)}"
        return [parts_]

    def _plain(self, text: str) -> str:
        return text if self._unicode else to_ascii(text)


def _format_distance(total: float, limits: Sequence[float], digits: int) -> str:
    """Return how far a sum is from its limit: "1 short of 3"; or between which two it lies."""
    reached = sum(total >= limit for limit in limits)
    if 0 < reached < len(limits):
        low, high = (format_rounded(limits[k], digits) for k in (reached - 1, reached))
        return f"between the limits of {low} and {high}"
    limit = limits[max(reached - 1, 0)]
    margin = subtract(total, limit)
    text = format_rounded(limit, digits)
    if margin == 0.0:
        return f"at the limit of {text}"
    size = format_rounded(abs(margin), digits)
    return f"{size} over the limit of {text}" if margin > 0.0 else f"{size} short of {text}"


def _is_count(stage: Stage) -> bool:
    """Return whether a neuron counts conditions."""
    return stage.n_holding is not None and all(part.weight is None for part in stage.parts)


def _mark(part: Part) -> str:
    return "●" if part.holds else "○"


def _measure_strength(group: Sequence[Part]) -> tuple[float, float]:
    """Sort by what decided: conditions by their weight, curves by what they add.

    A condition that does not hold decides as much as one that does.
    """
    added = abs(sum(part.contribution for part in group))
    weight = max(abs(part.weight or 0.0) for part in group)
    return (-weight if group[0].holds is not None else -added), -weight


def _line_up(lines: Sequence[_Line], indent: str) -> list[str]:
    """Write lines with their cells under each other."""
    widths = [max(map(len, cells)) for cells in zip(*(line.cells for line in lines), strict=True)]
    out: list[str] = []
    for line in lines:
        cells = [cell.ljust(n) for cell, n in zip(line.cells, widths, strict=True)]
        out.append((indent + "  ".join(cells)).rstrip())
        out += line.below
    return out
