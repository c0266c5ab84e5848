"""A second opinion on proofs: checks the certificate that rules equal a network.

The checker shares no code with :mod:`newron.rules`. It reads the text of the rules and the
content of the model's file itself, needs nothing but Python's standard library, and computes
with whole numbers and fractions where the prover computes with arrays.

>>> from newron.checker import check
>>> from newron.model import Classes, Column, Layer, Model, Schema
>>> fever = Layer("heaviside", "sum", "identity", 1, target=[0], source=[0],
...               w=[[1.0]], b=[[38.0]], alpha=[2.0], centre=[1.0])
>>> model = Model(Schema((Column("temperature", 35.0, 42.0),)), [fever], Classes(("well", "ill")))
>>> rules = model.rules()
>>> check(rules.to_text(notes=False), model.to_dict(), rules.proof.certificate)
"""

from newron.checker.check import check
from newron.checker.network import CertificateError

__all__ = ["CertificateError", "check"]
