"""The page: one HTML file with its style, its script and its data inside."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files

from newron._version import __version__
from newron.exports.export import export
from newron.figures.metrics import clean
from newron.figures.palette import DARK, FONT, LIGHT, write_stylesheet
from newron.report.card import write_card
from newron.report.facts import Facts
from newron.report.inputs import write_inputs
from newron.report.live import describe
from newron.report.network import write_network, write_row
from newron.report.quality import tell_title, write_quality, write_result
from newron.report.ruling import RuleWriter, name_rules, write_rules
from newron.report.writing import write_data

__all__ = ["render"]

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath d='M2 12h5V4h7' fill='none' stroke='%231A5A96' stroke-width='2.5'/%3E%3C/svg%3E"
)
_THEME = (
    '<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" '
    'r="7.5" fill="none" stroke="currentColor" stroke-width="1.6"/>'
    '<path d="M9 1.5a7.5 7.5 0 0 1 0 15z" fill="currentColor"/></svg>'
)


def render(facts: Facts) -> str:
    """Give the text of the page."""
    writer = RuleWriter()
    sections = [
        ("result", "Result", write_result(facts)),
        ("rules", name_rules(facts).removeprefix("The ").capitalize(), write_rules(facts, writer)),
        ("network", "Network", write_network(facts)),
        ("row", f"This {clean(facts.words.noun)}", write_row(facts)),
        ("inputs", "Inputs", write_inputs(facts)),
        ("performance", "Performance", write_quality(facts)),
        ("card", "Model card", write_card(facts)),
    ]
    sections = [section for section in sections if section[2]]
    style, model, script = _write_style(), _write_model(facts), _read("report.js")
    title = escape(clean(tell_title(facts)))
    nav = "".join(f'<a href="#{key}">{escape(name)}</a>' for key, name, _ in sections)
    body = "".join(
        f'<section id="{key}" aria-label="{escape(name)}">{html}</section>'
        for key, name, html in sections
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_write_policy(style, model, script)}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="newron {__version__}">
<title>{title}</title><link rel="icon" href="{_ICON}"><style>{style}</style></head>
<body class="nw"><a class="skip" href="#network">Skip to the network</a>
<header class="bar"><div><b>newron</b><nav aria-label="Sections">{nav}</nav>
<button id="theme" type="button" aria-label="Switch between light and dark">{_THEME}</button></div>
</header><main>{body}<footer>Written by newron {__version__}. One file, which asks for nothing from
anywhere. The model runs in this page, with the same results as in the library.</footer></main>
<script type="application/json" id="data">{write_data(describe(facts, writer.literals))}</script>
<script type="module">{model}</script><script type="module">{script}</script></body></html>
"""


def _write_model(facts: Facts) -> str:
    """Give the model as the module that exports write, put where the page's script finds it."""
    rules = facts.rules
    told = rules is not None and rules.proof.equal is not False
    code = export(facts.model, "javascript", rules=rules if rules and told else False).text
    names = ["model", "scores", "predict", "explain"]
    names += ["predictProba"] if facts.classes is not None else []
    names += ["rules"] if told else []
    return f"{code}\nglobalThis.newron = {{ {', '.join(names)} }};\n"


def _write_policy(style: str, *scripts: str) -> str:
    """Allow the style and the scripts of this page by their hashes, and nothing else."""
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _write_style() -> str:
    light, dark = (
        ";".join(f"--nw-{name}:{value}" for name, value in (*colours.items(), ("neg", neg)))
        for colours, neg in ((LIGHT, "#BCC6D0"), (DARK, "#46525E"))
    )
    return (
        f"{write_stylesheet()}\nbody.nw{{{light};--font:{FONT};color-scheme:light}}\n"
        "@media (prefers-color-scheme:dark)"
        f"{{body.nw:not(.nw-light){{{dark};color-scheme:dark}}}}\n"
        f"body.nw.nw-dark{{{dark};color-scheme:dark}}\n{_read('report.css')}"
        f"@media print{{body.nw.nw.nw{{{light};color-scheme:light}}}}\n"
    )


def _read(name: str) -> str:
    return files("newron.report").joinpath(name).read_text("utf-8")
