"""A network from rules in text."""

from __future__ import annotations

from newron.model.model import Model
from newron.model.output import Output
from newron.model.schema import Schema
from newron.rules.building import build_model
from newron.rules.parsing import parse_rules


def from_rules(text: str, schema: Schema, output: Output) -> Model:
    """Build the Heaviside network that does what rules say.

    Parameters
    ----------
    text : str
        Rules as :class:`newron.rules.RuleSet` prints them, or written by hand.
    schema : Schema
        The columns that the rules name.
    output : Classes or Targets
        The classes that they predict.

    Returns
    -------
    Model

    Examples
    --------
    >>> from newron.model import Classes, Column, Schema
    >>> schema = Schema((Column("age", 0.0, 100.0), Column("bmi", 10.0, 60.0)))
    >>> model = from_rules('''
    ... If all of [age ≥ 54.5; 25 ≤ bmi < 30], then ill
    ... Otherwise well
    ... ''', schema, Classes(("well", "ill")))
    >>> model.predict([[60, 27.5], [60, 30.0]]).tolist()
    ['ill', 'well']
    """
    axes, body = parse_rules(text, schema, output)
    return build_model(schema, axes, body, output)
