"""The page: one HTML file with its style, its script and its data inside."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from newron._version import __version__
from newron.drawing.markup import Markup, html, join
from newron.drawing.palette import DARK, FONT, LIGHT, write_stylesheet, write_variables
from newron.exports.export import export
from newron.report.card_section import write_card
from newron.report.facts import Facts
from newron.report.groups_section import write_groups
from newron.report.inputs_section import write_inputs
from newron.report.network_section import write_network, write_row
from newron.report.new_rows_section import write_new_rows
from newron.report.page_data import write_data
from newron.report.quality_section import make_title, write_quality, write_result
from newron.report.rules_section import RuleWriter, name_rules, write_rules
from newron.report.survival_section import write_survival

_PAGE = Markup("""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="newron {version}">
<title>{title}</title><link rel="icon" href="data:image/svg+xml,%3Csvg \
xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M2 12h5V4h7' fill='none' \
stroke='%231A5A96' stroke-width='2.5'/%3E%3C/svg%3E"><style>{style}</style></head>
<body class="nw"><a class="skip" href="#network">Skip to the network</a>
<header class="bar"><div><b>newron</b><nav aria-label="Sections">{nav}</nav>
<button id="theme" type="button" aria-label="Switch between light and dark"><svg width="18" \
height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="7.5" fill="none" \
stroke="currentColor" stroke-width="1.6"/><path d="M9 1.5a7.5 7.5 0 0 1 0 15z" \
fill="currentColor"/></svg></button></div>
</header><main>{body}<footer>Written by newron {version}. One file, which asks for nothing from
anywhere. The model runs in this page, with the same results as in the library.</footer></main>
<script type="application/json" id="data">{data}</script>
<script type="module">{model}</script><script type="module">{script}</script></body></html>
""")


def render(facts: Facts) -> str:
    """Return the text of the page."""
    writer = RuleWriter()
    sections = [
        ("result", "Result", write_result(facts)),
        ("survival", "Survival", write_survival(facts)),
        ("rules", name_rules(facts).removeprefix("The ").capitalize(), write_rules(facts, writer)),
        ("network", "Network", write_network(facts)),
        ("row", f"This {facts.labels.noun}", write_row(facts)),
        ("new", f"Your {facts.labels.noun}s", "" if facts.survival else write_new_rows(facts)),
        ("inputs", "Inputs", write_inputs(facts)),
        ("performance", "Performance", write_quality(facts)),
        ("groups", "Groups", write_groups(facts)),
        ("card", "Model card", write_card(facts)),
    ]
    shown = [section for section in sections if section[2]]
    style, model = _write_style(), _write_model(facts)
    script = _read("report.js") + (_read("new_rows.js") if facts.survival is None else "")
    return _PAGE.format(
        policy=_write_policy(style, model, script),
        version=__version__,
        title=make_title(facts),
        style=style,
        nav=join(html("a", name, href=f"#{key}") for key, name, _ in shown),
        body=join(html("section", part, id=key, aria_label=name) for key, name, part in shown),
        data=write_data(facts, writer.literals),
        model=model,
        script=script,
    )


def _write_model(facts: Facts) -> Markup:
    """Return the model as the module that exports write, put where the page's script finds it."""
    rules = facts.rules
    equal = rules is not None and rules.proof.equal is not False
    code = export(facts.model, "javascript", rules=rules if rules and equal else False).text
    names = ["model", "scores", "predict", "explain"]
    names += ["predictProba"] if facts.classes is not None else []
    names += ["rules"] if equal else []
    text = f"{code}\nglobalThis.newron = {{ {', '.join(names)} }};\n"
    return Markup(text)  # noqa: S704 - the export escapes what could end a script element


def _write_policy(style: str, *scripts: str) -> Markup:
    """Allow the style and the scripts of this page by their hashes, and nothing else."""
    return Markup(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    ).format(Markup(" ").join(map(_hash, scripts)), _hash(style))


def _hash(content: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return Markup("'sha256-{}'").format(digest)


def _write_style() -> Markup:
    light, dark = (
        write_variables({**colours, "neg": neg})
        for colours, neg in ((LIGHT, "#BCC6D0"), (DARK, "#46525E"))
    )
    text = (
        f"{write_stylesheet()}\nbody.nw{{{light};--font:{FONT};color-scheme:light}}\n"
        "@media (prefers-color-scheme:dark)"
        f"{{body.nw:not(.nw-light){{{dark};color-scheme:dark}}}}\n"
        f"body.nw.nw-dark{{{dark};color-scheme:dark}}\n{_read('report.css')}"
        f"@media print{{body.nw.nw.nw{{{light};color-scheme:light}}}}\n"
    )
    return Markup(text)  # noqa: S704 - our own


def _read(name: str) -> Markup:
    return Markup(files("newron.report").joinpath(name).read_text("utf-8"))  # noqa: S704 - our own
