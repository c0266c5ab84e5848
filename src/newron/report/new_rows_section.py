"""A place for rows of the reader's own: pasted or dropped, answered in the page."""

from __future__ import annotations

from newron.drawing.markup import Markup, bdi, join
from newron.report.facts import Facts

_SECTION = Markup("""<h2>Your own {noun}s</h2>
<p>Paste a table with a line of names, or drop a CSV file here. The model answers in this page; the
rows go nowhere else. It reads {names}.</p>
<div class="panel drop" id="drop"><label for="paste" class="sr">Rows as CSV</label>
<textarea id="paste" rows="5" spellcheck="false" placeholder="{example}"></textarea>
<div class="buttons"><label class="file"><input type="file" id="file" class="sr" \
accept=".csv,.tsv,.txt,text/csv">Choose a file</label>
<button type="button" id="answer">Answer</button>
<button type="button" id="keep" hidden>Save as CSV</button></div>
<p class="notes" id="drop-notes" role="status" hidden></p>
<div class="scroll" id="answers"></div></div>""")

_MAX_NAMES = 12


def write_new_rows(facts: Facts) -> Markup:
    """Return the section."""
    names = [bdi(facts.model.schema.names[i]) for i in facts.used]
    shown = Markup(", ").join(names[:_MAX_NAMES])
    rest = f" and {len(names) - _MAX_NAMES} more columns" if len(names) > _MAX_NAMES else ""
    example = ",".join(facts.model.schema.names[i] for i in facts.used[:_MAX_NAMES])
    return _SECTION.format(
        noun=facts.labels.noun, names=join(shown, rest) if names else "no column", example=example
    )
