"""What newron raises, and what it warns of.

::

    NewronError
     ├── InputError(ValueError)         a table, a target or an argument is not usable
     │    └── DefinitionError           a function of one's own is no formula
     ├── ModelError(ValueError)         the parts of a model do not fit together
     │    └── ModelFileError            a model file cannot be read
     └── TrainingError(ArithmeticError) training found no finite loss

    NewronWarning(UserWarning)
     └── InterruptedWarning             training was stopped by Ctrl-C

Messages say what was expected, what was found, and what to do.
"""

__all__ = [
    "DefinitionError",
    "InputError",
    "InterruptedWarning",
    "ModelError",
    "ModelFileError",
    "NewronError",
    "NewronWarning",
    "TrainingError",
]


class NewronError(Exception):
    """The root of all errors that newron raises on purpose."""


class InputError(NewronError, ValueError):
    """A table, a target or an argument cannot be used as it is."""


class DefinitionError(InputError):
    """A function of one's own cannot be turned into a formula, or has no value somewhere."""


class ModelError(NewronError, ValueError):
    """The parts of a model do not fit together."""


class ModelFileError(ModelError):
    """A model file is not JSON, damaged, of a later version, or nonsense."""


class TrainingError(NewronError, ArithmeticError):
    """Training ended without a finite loss."""


class NewronWarning(UserWarning):
    """The root of newron's warnings."""


class InterruptedWarning(NewronWarning):
    """Training was stopped early; the best model so far is kept."""
