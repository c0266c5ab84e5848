"""Reports: one HTML file that a domain expert can use, with the model inside.

``model.report(path, X, y)`` shows what is predicted from what, how good that is, the rules with
their proof, the network to play with, each input, and how the model came to be.
"""

from newron.report.origin import Origin

__all__ = ["Origin"]
