"""
Compiled loops of newron: training in single, prediction in double precision.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

class Loss(enum.Enum):
    binary = 0

    categorical = 1

    squared = 2

    tweedie = 3

    huber = 4

    quantile = 5

    formula = 6

    ordinal = 7

    labels = 8

class Objective:
    def __init__(
        self,
        loss: Loss,
        parameter: float = 0.0,
        factor: float = 1.0,
        levels: Sequence[float] = [],
        codes: Sequence[
            tuple[
                Annotated[
                    NDArray[numpy.int32],
                    dict(shape=(None, None), order="C", device="cpu", writable=False),
                ],
                Annotated[
                    NDArray[numpy.float64],
                    dict(shape=(None,), order="C", device="cpu", writable=False),
                ],
                int,
            ]
        ] = [],
        two_classes: bool = False,
    ) -> None: ...
    @property
    def loss(self) -> Loss: ...

class Schedule(enum.Enum):
    constant = 0

    cosine = 1

    one_cycle = 2

class Monitor(enum.Enum):
    epoch = 0

    exact = 1

    validation = 2

class Status(enum.Enum):
    running = 0

    finished = 1

    stalled = 2

    diverged = 3

    cancelled = 4

class Settings:
    def __init__(self) -> None: ...
    @property
    def loss(self) -> Objective: ...
    @loss.setter
    def loss(self, arg: Objective, /) -> None: ...
    @property
    def schedule(self) -> Schedule: ...
    @schedule.setter
    def schedule(self, arg: Schedule, /) -> None: ...
    @property
    def monitor(self) -> Monitor: ...
    @monitor.setter
    def monitor(self, arg: Monitor, /) -> None: ...
    @property
    def batch_size(self) -> int: ...
    @batch_size.setter
    def batch_size(self, arg: int, /) -> None: ...
    @property
    def max_epochs(self) -> int: ...
    @max_epochs.setter
    def max_epochs(self, arg: int, /) -> None: ...
    @property
    def patience(self) -> int: ...
    @patience.setter
    def patience(self, arg: int, /) -> None: ...
    @property
    def tolerance(self) -> float: ...
    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...
    @property
    def rate(self) -> float: ...
    @rate.setter
    def rate(self, arg: float, /) -> None: ...
    @property
    def blend_until(self) -> float: ...
    @blend_until.setter
    def blend_until(self, arg: float, /) -> None: ...
    @property
    def keep_best(self) -> bool: ...
    @keep_best.setter
    def keep_best(self, arg: bool, /) -> None: ...
    @property
    def measure_start(self) -> bool: ...
    @measure_start.setter
    def measure_start(self, arg: bool, /) -> None: ...
    @property
    def stop_at_zero_error(self) -> bool: ...
    @stop_at_zero_error.setter
    def stop_at_zero_error(self, arg: bool, /) -> None: ...

class Network:
    def __init__(self, n_channels: int) -> None: ...
    def add_place(self, channel: int, n_points: int) -> None: ...
    def add_layer(
        self,
        processing: int,
        aggregation: int,
        activation: int,
        weighted: bool,
        centred: bool,
        factors: int,
        n_neurons: int,
        source: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        begin: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def set_curve(
        self,
        role: str,
        lines: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_registers: int,
        reach: float,
    ) -> None: ...
    def set_code(
        self,
        lines: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_inputs: int,
        n_outputs: int,
        n_registers: int,
        reach: float,
    ) -> None: ...
    @property
    def n_params(self) -> int: ...

class Table:
    def __init__(
        self,
        x: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        targets: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        weights: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...

class Run:
    @property
    def status(self) -> Status: ...
    @property
    def epoch(self) -> int: ...
    @property
    def best_epoch(self) -> int: ...
    @property
    def best(self) -> float: ...
    @property
    def wrong(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def last(self) -> float: ...
    def history(
        self,
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]: ...
    def params(
        self,
    ) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]: ...
    def mean(
        self,
    ) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]: ...
    def square(
        self,
    ) -> Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]: ...

class Trainer:
    def __init__(
        self,
        network: Network,
        train: Table,
        validation: Table | None,
        settings: Settings,
        starts: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        seeds: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        share: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        decay: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        sign: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        n_threads: int,
    ) -> None: ...
    def advance(self, seconds: float) -> bool: ...
    def run(self, index: int) -> Run: ...
    def resume(
        self,
        index: int,
        mean: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        square: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        steps: int,
    ) -> None: ...

class Evaluator:
    def __init__(self) -> None: ...
    def add_channel(
        self,
        column: int,
        knots: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        x: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        y: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        slope: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def add_layer(
        self,
        processing: int,
        aggregation: int,
        activation: int,
        factors: int,
        n_neurons: int,
        source: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        begin: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        w: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        b: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        alpha: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        centre: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        missing: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        level_begin: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        levels: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def set_curve(
        self,
        role: str,
        lines: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_registers: int,
        reach: float,
    ) -> None: ...
    def set_code(
        self,
        lines: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_inputs: int,
        n_registers: int,
        reach: float,
        parameters: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def seal(self) -> None: ...
    def score(
        self,
        x: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        scores: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")
        ],
        n_threads: int = 1,
    ) -> None: ...

class RankTable:
    def __init__(
        self,
        ranks: Annotated[
            NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        n_bins: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_ordered: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        monotone: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        targets: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        loss: Objective,
        n_outputs: int,
        base: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None = None,
    ) -> None: ...

class Crisp:
    def __init__(
        self,
        table: RankTable,
        begin: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        conditions: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        terms: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        only: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weight: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        centre: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        condition_free: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        term_free: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def polish(self, other_columns: bool, ridge: float, n_threads: int) -> int: ...
    def refit(self, sweeps: int, ridge: float) -> None: ...
    def objective(self, ridge: float) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def wrong(self) -> int: ...
    def shape(self) -> tuple[Any, ...]: ...

class GrowSettings:
    def __init__(self) -> None: ...
    @property
    def max_terms(self) -> int: ...
    @max_terms.setter
    def max_terms(self, arg: int, /) -> None: ...
    @property
    def max_conditions(self) -> int: ...
    @max_conditions.setter
    def max_conditions(self, arg: int, /) -> None: ...
    @property
    def beam(self) -> int: ...
    @beam.setter
    def beam(self, arg: int, /) -> None: ...
    @property
    def length_price(self) -> float: ...
    @length_price.setter
    def length_price(self, arg: float, /) -> None: ...
    @property
    def ridge(self) -> float: ...
    @ridge.setter
    def ridge(self, arg: float, /) -> None: ...
    @property
    def least_weight(self) -> float: ...
    @least_weight.setter
    def least_weight(self, arg: float, /) -> None: ...
    @property
    def polish_every(self) -> int: ...
    @polish_every.setter
    def polish_every(self, arg: int, /) -> None: ...
    @property
    def exchange_every(self) -> int: ...
    @exchange_every.setter
    def exchange_every(self, arg: int, /) -> None: ...
    @property
    def sweeps(self) -> int: ...
    @sweeps.setter
    def sweeps(self, arg: int, /) -> None: ...
    @property
    def windows(self) -> bool: ...
    @windows.setter
    def windows(self, arg: bool, /) -> None: ...
    @property
    def counts(self) -> bool: ...
    @counts.setter
    def counts(self, arg: bool, /) -> None: ...

class Grower:
    def __init__(self, table: RankTable, settings: GrowSettings, n_threads: int) -> None: ...
    def grow(self) -> bool: ...
    def grow_size(self) -> bool: ...
    def settle(self) -> None: ...
    def find_best(self) -> tuple[Any, ...]: ...
    def score(self, rows: RankTable) -> NDArray[numpy.float64]: ...
    def objective(self, ridge: float) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def wrong(self) -> int: ...
    @property
    def n_terms(self) -> int: ...
    def shape(self) -> tuple[Any, ...]: ...

def function_names() -> list[str]: ...
def instruction_set() -> str: ...
def differentiate(
    network: Network,
    table: Table,
    params: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    loss: Objective,
    blend: float = 1.0,
) -> tuple[Any, ...]: ...
def evaluate(
    network: Network,
    table: Table,
    params: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    loss: Objective,
) -> tuple[Any, ...]: ...
def time_bare_sigmoid(
    x: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    w: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    b: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    repeats: int,
) -> float: ...
def bin_rows(
    x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    edges: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    begin: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    sources: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def summarize_bins(
    x: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    edges: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    begin: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    sources: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    codes: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def add_scores(
    fine: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    tables: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    coarse: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    pairs: Annotated[
        NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    cells: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def sum_bins(
    fine: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    values: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    bins: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    coarse: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    pairs: Annotated[
        NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    cells: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def scan_pairs(
    codes: Annotated[
        NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    levels: int,
    first: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    second: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    out: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None, None), order="C", device="cpu")
    ],
    n_threads: int,
) -> None: ...
def fit_curve(
    scales: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    mass: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    tolerance: float,
    ridge: float,
    max_functions: int,
    bumps: bool,
    direction: int,
) -> tuple[Any, ...]: ...
def fit_neuron(
    first: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    second: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first_mass: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    second_mass: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    ridge: float,
    bump: bool,
    iterations: int,
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]: ...
