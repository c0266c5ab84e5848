"""Drawing: what figures and reports have in common, below both.

- :mod:`~newron.drawing.text`: how wide texts are, and how they are made to fit.
- :mod:`~newron.drawing.palette`: colours, type sizes, the stylesheet.
- :mod:`~newron.drawing.shapes`: labels, boxes, lines and the scene that holds them.
- :mod:`~newron.drawing.boxes`: boxes that lay themselves out in rows, columns and grids.
- :mod:`~newron.drawing.markup`: HTML and SVG whose text is always escaped.
- :mod:`~newron.drawing.svg`: a scene as SVG.

The package is not public: :func:`newron.figures.draw` is.
"""

__all__: list[str] = []
