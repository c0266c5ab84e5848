"""Checks that rules equal a network, by two arguments.

*sums*: the weighted sum of the network and the points of the rules are one function: what
remains of their difference, column by column and group by group, is zero. For the class alone
that is enough up to a positive factor.

*states*: all inputs are followed column by column, as far as sums and counts distinguish them;
in every state that is reached at the end, network and rules decide alike.

A certificate names what it covers: the class alone, or class, score and probability, which follow
from equal sums; of a regression the target.

Both rest on the same reading: every condition is a form (``forms.py``), and equal forms have one
number, however they were written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from newron.checker.comparison import CLASS, TARGET, Comparison
from newron.checker.grammar import read_rules
from newron.checker.network import CertificateError, Condition, Test, read_network

FORMAT, VERSION = "newron certificate", 1
MAX_WORK = 20_000_000


def make_certificate(
    text: str,
    document: Mapping[str, Any],
    method: str,
    order: Sequence[int],
    covers: Sequence[str] | None = None,
    within: float = 0.0,
) -> dict[str, Any]:
    r"""Return a certificate that rules equal a network, for :func:`check`.

    - ``text``: The rules.
    - ``document``: The content of the model's file.
    - ``method``: The argument.
    - ``order``: The columns in the order in which the states are to be followed.
    - ``covers``: What is equal: ``CLASS`` (the default for classes), ``SCORE`` (class, score and
      probability, by the sums), or ``TARGET`` (the default for a regression).
    - ``within``: How far targets may differ because the network rounds its sums; in exact
      arithmetic they are equal all the same.

    Returned: plain data, for JSON.

    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> make_certificate(text, model.to_dict(), "states", [0])["method"]
    'states'
    """
    if covers is None:
        covers = TARGET if "targets" in document.get("output", ()) else CLASS
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": _digest(text),
        "model": _digest(_write(document)),
        "method": method,
        "order": list(order),
        "covers": list(covers),
        "within": within,
    }


def check(
    text: str,
    document: Mapping[str, Any],
    certificate: Mapping[str, Any],
    *,
    max_work: int = MAX_WORK,
) -> None:
    r"""Check that rules equal a network on their whole domain, missing values included.

    Parameters
    ----------
    text : str
        The rules, as they are printed.
    document : dict
        The content of the model's file, as :meth:`Model.to_dict` returns it.
    certificate : dict
        As a proof has it.
    max_work : int
        How many steps to take at most.

    Raises
    ------
    CertificateError
        If that is not shown.

    Examples
    --------
    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> document = model.to_dict()
    >>> check(text, document, make_certificate(text, document, "states", [0]))
    """
    if (certificate.get("format"), certificate.get("version")) != (FORMAT, VERSION):
        raise CertificateError(f"expected a {FORMAT} of version {VERSION}")
    if certificate.get("rules") != _digest(text):
        raise CertificateError("the certificate is one of other rules")
    if certificate.get("model") != _digest(_write(document)):
        raise CertificateError("the certificate is one of another model")
    try:
        comparison = Comparison(read_network(document), text, max_work)
        score = comparison.read_coverage(certificate.get("covers"))
        comparison.allow_rounding(certificate.get("within"))
        if certificate.get("method") == "sums":
            comparison.compare_sums(score=score)
        elif score:
            raise CertificateError("equal scores are shown by sums alone")
        elif certificate.get("method") == "states":
            comparison.compare_states(certificate.get("order", []))
        else:
            raise CertificateError(f"unknown method {certificate.get('method')!r}")
    except RecursionError:
        raise CertificateError("the network is too deep") from None


def evaluate(
    text: str, document: Mapping[str, Any], row: Sequence[float | None]
) -> tuple[Any, Any]:
    r"""Return what rules and network give for one row: numbers of classes, or targets.

    - ``text``: The rules.
    - ``document``: The content of the model's file.
    - ``row``: A number for each column; that of its category, or None for a missing value.

    >>> from newron.construct import from_rules
    >>> from newron.model import Classes, Column, Schema
    >>> text = "If age ≥ 50, then ill\nOtherwise well"
    >>> model = from_rules(text, Schema((Column("age", 0.0, 100.0),)), Classes(("well", "ill")))
    >>> evaluate(text, model.to_dict(), [50.0]), evaluate(text, model.to_dict(), [None])
    ((1, 1), (0, 0))
    """
    network = read_network(document)
    rules = read_rules(text, network)
    known: dict[int, bool] = {}

    def ask(condition: Condition) -> bool:
        if isinstance(condition, bool):
            return condition
        if id(condition) not in known:
            if isinstance(condition, Test):
                known[id(condition)] = condition.holds(row[condition.column])
            else:
                known[id(condition)] = sum(map(ask, condition.parts)) in condition.allowed
        return known[id(condition)]

    truths = [[ask(condition) for condition, _ in parts] for parts in network.last.parts]
    scores = network.last.score(truths)
    if rules.constants is None:
        decided = [outcome for condition, outcome in rules.branches if ask(condition)]
        return [*decided, rules.default][0], network.decide(scores)
    held = [weights for condition, weights in rules.terms if ask(condition)]
    several = network.n_scores > 1
    sums = [
        constant + sum(weights[j if several else 0] for weights in held)
        for j, constant in enumerate(rules.constants)
    ]
    if network.labels is None:
        return [float(s) for s in sums], scores
    predicted = sum(s >= 0 for s in sums) if network.limits else network.decide(sums)
    return predicted, network.decide(scores)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _write(document: Mapping[str, Any]) -> str:
    # Who made a file and what was measured of the network are no part of what is compared.
    apart = ("made by", "measured", "conformal")
    network = {key: document[key] for key in document if key not in apart}
    return json.dumps(network, sort_keys=True)
