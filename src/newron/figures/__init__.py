"""Pictures of networks: the whole network as SVG, and plots for Matplotlib.

``draw(model)`` needs NumPy alone and gives a :class:`Figure`; its ``save`` writes SVG, and
with the extra ``figures`` PNG and PDF.

**For pages that bring a figure to life.** The script changes dots, ``on`` classes and texts;
the layout never moves. Numbers of layers and neurons go from 1 on, functions are numbered in
their layer from 0 on, inputs from 0 on.

- ``g.fn[data-fn="<layer>:<function>"]`` is the plot of a function, with a ``circle.dot`` where
  a row is drawn. Where a value lies: x = x0 + (v − lo) / (hi − lo) · (x1 − x0), clamped, from
  ``data-lo data-hi data-x0 data-x1``; for categories ``data-slots="0:12.5 1:30"`` gives the x of
  each by its number; a gap is at ``data-xm``. Likewise y from ``data-vlo data-vhi data-y0
  data-y1`` for what the function adds (weight times h).
- A score card draws the functions of one input as one curve, their sum: ``data-fn`` and
  ``data-part`` are then lists, "1:3 1:7", to be selected by ``[data-fn~="1:3"]``; it is ``on``
  while one of them is.
- ``path.edge[data-fn]``, ``rect.pill[data-fn]`` and ``text.points[data-fn]`` get the class
  ``on`` while the condition holds (for curves: while h ≥ 0.5).
- ``text[data-part="<layer>:<function>"]`` is what the function adds; also with ``on``.
- ``text[data-val="<input>"]`` is the value of an input, with its unit.
- ``text[data-sum="<layer>:<neuron>"]`` is the aggregate of a neuron.
- ``g.act[data-act="<layer>:<neuron>"]`` is the plot of an activation, with a dot: x from the
  aggregate, y from the activation (of two classes the probability of the second).
- ``text[data-out]``: ``class``, ``probability`` and ``why`` of two classes; of several classes
  ``probability`` with ``data-class``, a ``rect[data-meter]`` whose full width is ``data-full``,
  and a ``path.edge[data-class]`` that is ``on`` for the class that is predicted; ``amount`` with
  ``data-class`` for regression.
- ``text[data-margin="<layer>:<function>"]`` in score cards: how far a value is from changing its
  condition, "5 y below 55".
- ``text[data-total]`` are lines of a card's table of totals; class ``b`` marks the nearest.
"""

from newron.figures.charts import (
    plot_boundary,
    plot_functions,
    plot_importance,
    plot_tradeoff,
    plot_training,
)
from newron.figures.effects import plot_effects
from newron.figures.figure import Figure, draw

__all__ = [
    "Figure",
    "draw",
    "plot_boundary",
    "plot_effects",
    "plot_functions",
    "plot_importance",
    "plot_tradeoff",
    "plot_training",
]
