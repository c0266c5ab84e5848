"""What is fuzzed: how valid input looks, how it is damaged, and what is done with it.

To add a target: one class and one line in ``TARGETS``. ``run`` may raise a ``NewronError`` of
one line; anything else is a finding.
"""

import json
import random
import re
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

import newron
from builders.models import make_card, make_regression
from builders.tables import make_table, write_csv
from fuzz.mutations import mutate_bytes, mutate_json, mutate_words
from model.networks import make_model, with_ranks
from neurons.formulas import draw_model
from newron.model import Model, Targets
from newron.neurons.builtin import LOSSES

CORPUS = Path(__file__).with_name("corpus")


class Target(ABC):
    """One kind of input."""

    name: ClassVar[str]

    @cached_property
    def seeds(self) -> list[bytes]:
        """Valid inputs, and the kept ones that were findings once."""
        kept = sorted((CORPUS / self.name).glob("*"))
        return [*self.make_seeds(), *(path.read_bytes() for path in kept)]

    @abstractmethod
    def make_seeds(self) -> list[bytes]:
        """Make valid inputs."""

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        """Damage an input."""
        return mutate_bytes(data, rng)

    @abstractmethod
    def run(self, data: bytes, folder: Path) -> None:
        """Read an input, and use what was read."""


class ModelFiles(Target):
    """Model files: load, predict, save again, and one more way to read the model."""

    name = "models"

    def make_seeds(self) -> list[bytes]:
        models = [make_card(), make_regression()]
        models += [with_ranks(make_model(seed), seed) for seed in range(12)]
        with tempfile.TemporaryDirectory() as folder:
            return [_save(model, Path(folder) / "m.json") for model in models]

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        return (mutate_json if rng.random() < 0.85 else mutate_bytes)(data, rng)

    def run(self, data: bytes, folder: Path) -> None:
        path = folder / "m.json"
        path.write_bytes(data)
        model = newron.load(path)
        rows = _make_rows(model)
        with np.errstate(all="ignore"):
            scores = model.score_rows(rows, compiled=False)
        np.testing.assert_array_equal(model.score_rows(rows), scores)
        assert len(model.output.predict(scores)) == len(rows)
        model.save(path)
        assert newron.load(path) == model
        assert "\n" not in repr(model)


class Definitions(ModelFiles):
    """Model files with formulas of one's own, of which only the formulas are damaged."""

    name = "definitions"

    def make_seeds(self) -> list[bytes]:
        models = [draw_model(random.Random(seed)) for seed in range(8)]
        for loss in (LOSSES["huber"], LOSSES["tweedie"]):
            output = Targets(models[0].output.names, loss.link, loss.text, loss)
            models.append(Model(models[0].schema, models[0].layers, output))
        with tempfile.TemporaryDirectory() as folder:
            return [_save(model, Path(folder) / "m.json") for model in models]

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        try:
            document = json.loads(data)
            part = document["output"] if "loss" in document["output"] else document
            kind = rng.choice(
                sorted({"definitions", "aggregations", "activations", "loss"} & part.keys())
            )
            part[kind] = json.loads(mutate_json(json.dumps(part[kind]).encode(), rng))
        except (ValueError, LookupError, TypeError, AttributeError):  # damaged before
            return mutate_bytes(data, rng)
        return json.dumps(document).encode()


def _save(model: Model, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def _make_rows(model: Model) -> np.ndarray:
    columns = model.schema.columns
    ends = [[c.low, c.high, (c.low + c.high) / 2, np.nan] for c in columns]
    return np.array(ends, float).T


RULES = (
    "If age ≥ 50, then yes\nOtherwise no\n",
    "If all of [age ≥ 54.5; colour = red], then yes\nOtherwise no\n",
    "If at least 2 of [20 ≤ age < 30; age ≥ 25; colour in {red, blue}], then yes\nOtherwise no\n",
    "If any of [age missing; colour ≠ green], then yes\nOtherwise no\n",
    "Points for yes\n    +2  age ≥ 50\n    +1  colour = red\nSum ≥ 1.5: yes\nOtherwise: no\n",
)


class RuleTexts(Target):
    """Rules in text: parse, build the network that they describe, and prove them of it."""

    name = "rules"

    @cached_property
    def _model(self) -> Model:
        return make_card()

    def make_seeds(self) -> list[bytes]:
        return [text.encode() for text in RULES]

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        if rng.random() < 0.4:
            return mutate_bytes(data, rng)
        words = [b"if", b"then", b"and", b"or", b"not", b"at", b"least", b"of", b"(", b")", b">="]
        words += [b"1e999999999", b"9" * 5000, b"(" * 400, b"missing", b"otherwise", b"is", b"one"]
        words += [name.encode() for name in self._model.schema.names]
        return mutate_words(data, rng, words)

    def run(self, data: bytes, folder: Path) -> None:
        from newron.construct import from_rules
        from newron.rules import prove

        text = data.decode("utf-8", "replace")
        model = from_rules(text, self._model.schema, self._model.output)
        model.score_rows(_make_rows(model))
        proof = prove(text, model, seconds=0.5)
        assert proof.equal is not False, proof


class Tables(Target):
    """Tables in files: CSV and JSON lines, plain or packed."""

    name = "tables"

    def make_seeds(self) -> list[bytes]:
        import gzip

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.csv"
            write_csv(path, make_table(n=12))
            plain = path.read_bytes()
        lines = b'{"age": 51, "colour": "red"}\n{"age": null, "colour": "blue"}\n'
        return [plain, plain.replace(b",", b";"), lines, gzip.compress(plain, mtime=0)]

    def run(self, data: bytes, folder: Path) -> None:
        from newron import tables

        path = folder / "t.csv"
        path.write_bytes(data)
        tables.read(path)


class Journals(Target):
    """Journals of searches, damaged and sealed again."""

    name = "journals"
    prints: ClassVar = {"data": "d", "folds": "f", "settings": "s"}

    def make_seeds(self) -> list[bytes]:
        from newron.search.exploration import Outcome, Trial
        from newron.search.journal import Journal
        from newron.search.structure import Candidate

        with tempfile.TemporaryDirectory() as folder:
            journal = Journal(Path(folder) / "j", self.prints)
            for fold, widths in enumerate([(), (2, 1), (4,)]):
                candidate = Candidate(widths, (("processing", "sigmoid"),))
                journal.on_outcome(Trial(candidate, fold), Outcome(0.5, 1.0, 0.25))
            return [journal.path.read_bytes()]

    def mutate(self, data: bytes, rng: random.Random) -> bytes:
        import json

        from newron.search.journal import _seal

        lines = data.splitlines(keepends=True)
        if rng.random() < 0.3 or len(lines) < 2:
            return mutate_bytes(data, rng)
        i = rng.randrange(1, len(lines))
        try:
            changed = json.loads(mutate_json(lines[i], rng))
        except ValueError:  # damaged before
            return mutate_bytes(data, rng)
        if isinstance(changed, dict):
            changed.pop("check", None)
            lines[i] = _seal(changed)
        return b"".join(lines)

    def run(self, data: bytes, folder: Path) -> None:
        from newron.search.journal import Journal

        path = folder / "j"
        path.write_bytes(data)
        Journal(path, self.prints)


TARGETS: dict[str, Callable[[], Target]] = {
    target.name: target for target in (ModelFiles, Definitions, RuleTexts, Tables, Journals)
}


def check(target: Target, data: bytes, folder: Path) -> str | None:
    """Run one input; return what is wrong, if anything is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", newron.NewronWarning)
            target.run(data, folder)
    except newron.NewronError as error:
        message = str(error)
        if "\n" in message or len(message) > 1000:
            return f"an error of {len(message)} characters: {message[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def describe_error(target: Target, data: bytes, folder: Path) -> str:
    """Run one input; return its error without what that quotes, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.run(data, folder)
    except newron.NewronError as error:
        text = str(error).replace(str(folder), "").split("got", 1)[0]
        return re.sub(r"'[^']*'|\"[^\"]*\"|[\d.e+-]*\d[\d.e+-]*|\[.*", "", text)
    return ""
