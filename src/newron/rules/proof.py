"""What was shown of rules and a network: a verdict, how it was found, and what it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from newron.checker.comparison import CLASS
from newron.drawing.printed import Printed
from newron.formatting import format_integer, join_words


@dataclass(frozen=True)
class Proof(Printed):
    """What was shown of rules and a network.

    Parameters
    ----------
    equal : bool or None
        Whether they are equal on the whole domain; None where that was not shown.
    method : str
        "enumeration", "columns", "sums", "sweep", "states" or "SAT".
    size : int
        How many inputs the domain has, as far as rules and network distinguish them.
    seconds : float
    counterexample : dict or None
        An input on which they differ, by the names of the columns; None for a missing value.
    predicted : tuple or None
        What rules and network predict for the counterexample.
    finite : bool
        Whether the domain itself has no more than ``size`` inputs.
    note : str
        Why it was not proved, or what else is to be known.
    certificate : dict or None
        What :func:`newron.checker.check` has accepted, where equality was proved.
    covers : tuple of str
        In what they were proved equal: ("class",) where rules keep the class alone,
        ("class", "score", "probability") where they are the same sums, ("target",) for a
        regression. Empty where nothing was proved.
    within : float
        How far the targets of a regression may differ because the network rounds its sums;
        in exact arithmetic they are equal. 0 where they are equal to the last bit.

    Examples
    --------
    >>> proof = Proof(True, "enumeration", 12, 0.01, finite=True, covers=("class",))
    >>> proof.verdict, proof.describe(seconds=False)
    ('Proved equal to the network in class alone',
     'All 12 inputs of the stated domain checked, no difference (enumeration).')
    """

    equal: bool | None
    method: str
    size: int
    seconds: float
    counterexample: dict[str, Any] | None = None
    predicted: tuple[Any, Any] | None = None
    finite: bool = False
    note: str = ""
    certificate: dict[str, Any] | None = None
    covers: tuple[str, ...] = ()
    within: float = 0.0

    def __bool__(self) -> bool:
        """Return whether equality was proved."""
        return self.equal is True

    @property
    def verdict(self) -> str:
        """What was shown, in a few words."""
        if self.equal is None:
            return "Not proved"
        if not self.equal:
            return "Not equal to the network"
        return f"Proved equal to the network in {self.coverage}"

    @property
    def coverage(self) -> str:
        """In what rules and network were proved equal, in words."""
        if self.covers == CLASS:
            return "class alone"
        rounded = f" but for rounding, at most {self.within:.2g}" if self.within else ""
        return join_words(self.covers) + rounded

    def describe(self, *, seconds: bool = True) -> str:
        """Return how equality was shown, or why not, without the verdict.

        Parameters
        ----------
        seconds : bool, default=True
            Whether to add how long it took.

        Returns
        -------
        str
        """
        if self.equal is None:
            return f"{self.note}."
        if self.counterexample is not None and self.predicted is not None:
            row = ", ".join(
                f"{name} {'missing' if value is None else f'= {value}'}"
                for name, value in self.counterexample.items()
            )
            rules, network = self.predicted
            return f"for {row} the rules say {rules}, the network says {network}."
        what = "inputs of the stated domain"
        if not self.finite:
            what = "combinations that the conditions can tell apart"
        how = f"{self.method}, {self.seconds:.2g} s" if seconds else self.method
        number = format_integer(self.size, minimum=10_000)
        return f"All {number} {what} checked, no difference ({how}). {self.note}".rstrip()

    def __str__(self) -> str:
        return f"{self.verdict}{'.' if self.equal else ':'} {self.describe()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain data.

        Returns
        -------
        dict
        """
        pair = self.predicted
        return {
            "equal": self.equal,
            "method": self.method,
            "size": self.size,
            "seconds": round(self.seconds, 4),
            "counterexample": self.counterexample,
            "predicted": None if pair is None else {"rules": pair[0], "network": pair[1]},
            "note": self.note,
            "covers": list(self.covers),
            "within": self.within,
        }
