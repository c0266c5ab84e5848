"""``newron fit``: from a table to a network that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newron.command.options import (
    Categories,
    DataFile,
    Drop,
    Force,
    Jobs,
    Missing,
    Positive,
    Seed,
    TargetColumn,
    Task,
)
from newron.command.terminal import Page

EXAMPLES = (
    ("newron fit heart.csv --target disease", ""),
    ("newron fit heart.csv -t disease -o model.json", "the model alone"),
    ("newron fit heart.csv -t disease --hidden 4,2", "allow two hidden layers"),
    ("newron fit heart.csv -t disease --processing smooth", "curves instead of conditions"),
    ("newron fit heart.csv -t disease --drop id --category ward", "what columns are"),
    ("newron fit heart.csv -t disease --test 0.3", "measure on 30 % held out"),
)


def run(
    page: Page,
    data: DataFile,
    target: TargetColumn,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FOLDER|FILE.json",
            help="Where to write; a name that ends in .json takes the model alone. By default a "
            "folder named after DATA.",
        ),
    ] = None,
    processing: Annotated[
        str,
        typer.Option(
            "--processing",
            metavar="NAME",
            help="The function of an input: heaviside (rules), sigmoid, tanh_prod, smooth (the "
            "better one of these two), linear, relu, selu.",
        ),
    ] = "heaviside",
    hidden: Annotated[
        str | None,
        typer.Option(
            "--hidden",
            metavar="4,2|auto|0",
            help="Neurons of hidden layers that are allowed; auto searches, 0 allows none. By "
            "default 4.",
        ),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="default (chooses on rows held out), gradient (this very network), grow, paper.",
        ),
    ] = "default",
    terms: Annotated[
        int,
        typer.Option("--terms", metavar="N", min=1, help="Conditions of a grown network at most."),
    ] = 12,
    points: Annotated[
        int,
        typer.Option(
            "--points",
            metavar="N",
            min=0,
            help="Whole points of a score card at most; 0 keeps its weights as they are.",
        ),
    ] = 5,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune", help="Take out what rows held out can spare; takes six times as long."
        ),
    ] = False,
    class_weight: Annotated[
        str | None,
        typer.Option(
            "--class-weight",
            metavar="balanced",
            help="Let all classes count alike, however rare they are.",
        ),
    ] = None,
    test: Annotated[
        float | None,
        typer.Option(
            "--test",
            metavar="SHARE",
            help="Hold out a share of the rows to measure on; 0 measures nothing. By default 0.2 "
            "above 2000 rows, and 5 folds below.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", metavar="K", min=0, help="Measure in so many folds instead."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE.html",
            help="Where to write the report; by default into the folder.",
        ),
    ] = None,
    drop: Drop = None,
    category: Categories = None,
    missing: Missing = None,
    task: Task = None,
    positive: Positive = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
) -> None:
    """Train a network on a table, measure it, and tell it as rules.

    What the columns are and whether the target is classes or amounts is inferred, and told.
    How right the network is for new rows is measured on rows that it was not trained on,
    beside logistic regression and a constant answer.
    """
    from newron.command.fitting import fit_table
    from newron.command.learning import Settings, read_hidden
    from newron.command.tables import Wanted

    wanted = Wanted(target, drop or (), category or (), missing or (), task, positive)
    settings = Settings(
        processing=processing,
        hidden=read_hidden(hidden),
        recipe=recipe,
        terms=terms,
        points=points,
        prune=prune,
        class_weight=class_weight,
        seed=seed,
        jobs=jobs,
    )
    fit_table(page, data, wanted, settings, output, report, folds=folds, share=test, force=force)
