"""Reports: one HTML file that a domain expert can use, with the model inside.

``write(model, path, X, y)`` tells what is predicted from what, how good that is, the rules
with their proof, the network to play with, each input, and how the model came to be.
"""

from newron.report.facts import Facts, gather
from newron.report.naming import Words
from newron.report.origin import Origin
from newron.report.page import render
from newron.report.report import write

__all__ = ["Facts", "Origin", "Words", "gather", "render", "write"]
