"""Where to draw the line between two classes: a slider with what each threshold costs."""

from __future__ import annotations

import numpy as np

from newron.drawing.markup import Markup, bdi
from newron.formatting import name_class
from newron.report.facts import Facts

_CUTS = np.arange(1, 100) / 100.0  # probabilities at which the line can be drawn

_PANEL = Markup("""<div class="panel cuts" id="cuts"><h3>Where to draw the line</h3>
<p><label for="cut">Say “{name}” from a probability of <output id="cut-at"></output> on.</label>
The model itself says it from 50\u00a0% on; moving the line changes nothing but this table.</p>
<input type="range" id="cut" min="1" max="99" step="1" value="50">
<div class="scroll"><table><tbody>
<tr><th scope="row">sensitivity: of “{name}”, found</th><td class="num" data-cut="found"></td></tr>
<tr><th scope="row">specificity: of “{other}”, left alone</th>\
<td class="num" data-cut="left"></td></tr>
<tr><th scope="row">positive predictive value: of those called “{name}”, right</th>\
<td class="num" data-cut="right"></td></tr>
<tr><th scope="row">negative predictive value: of those called “{other}”, right</th>\
<td class="num" data-cut="spared"></td></tr>
<tr><th scope="row">cost, if a missed “{name}” costs <input type="number" id="cost-missed" min="0" \
value="1" step="any" aria-label="cost of a missed one"> and a false alarm \
<input type="number" id="cost-alarm" min="0" value="1" step="any" aria-label="cost of a false \
alarm"></th><td class="num" data-cut="cost"></td></tr></tbody></table></div>
<p class="small muted" id="cut-best" role="status"></p></div>""")


def count_cuts(facts: Facts) -> list[list[int]] | None:
    """Count rows for each threshold: found, false alarms, missed, left alone.

    None unless there are two classes and true answers.
    """
    if facts.classes is None or not facts.is_binary or facts.truth is None:
        return None
    second = facts.classes.predict_proba(facts.scores)[:, 1]
    positive, truth = second[:, None] >= _CUTS, (facts.truth == 1)[:, None]
    cells = (positive & truth, positive & ~truth, ~positive & truth, ~positive & ~truth)
    counts: list[list[int]] = np.stack([cell.sum(axis=0) for cell in cells], axis=1).tolist()
    return counts


def write_threshold(facts: Facts) -> Markup | None:
    """Return the slider and its table; None unless there are two classes and true answers."""
    if facts.classes is None or count_cuts(facts) is None:
        return None
    other, name = (bdi(name_class(label)) for label in facts.classes.labels)
    return _PANEL.format(name=name, other=other)
