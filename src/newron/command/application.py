"""The application: its commands, what they share, and how errors end."""

from __future__ import annotations

import inspect
import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from newron._version import __version__
from newron.command import (
    compare,
    datasets,
    demo,
    evaluate,
    explain,
    export,
    fit,
    inspection,
    plot,
    predict,
    prove,
    report,
    rules,
    search,
)
from newron.command.files import check_apart
from newron.command.terminal import Console, encode_text
from newron.errors import InterruptedWarning, NewronError, NewronWarning
from newron.formatting import clean

FAILED, INTERRUPTED, PIPE_CLOSED, TERMINATED = 2, 130, 141, 143
Example = tuple[str, str]  # a command line, and what it is for


class Commands(TyperGroup):
    """All commands; an error is one line."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **how: Any) -> Any:
        """Run a command and leave with its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        how["standalone_mode"] = False  # errors come here
        try:
            code = super().main(words, *rest, obj=shlex.join(["newron", *words]), **how)
        except Exception as error:
            _print_error(error, debug="--debug" in words)
            code = FAILED
        sys.exit(code or 0)


def _print_error(error: Exception, *, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    if isinstance(error, typer.TyperException):
        _print_line(f"{_join(error.format_message())} (see newron --help)")
    elif isinstance(error, NewronError):
        _print_line(_join(str(error)))
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        _print_line(f"{where}{error.strerror or error}")
    else:
        hint = "" if debug else "; add --debug to see where, and please report it"
        _print_line(f"unexpected {type(error).__name__}: {_join(str(error))}{hint}")


def _join(text: str) -> str:
    return " ".join(text.split())


def _print_line(text: str) -> None:
    """Print the one line that an error has."""
    sys.stderr.write(encode_text(sys.stderr, f"newron: {clean(text, directions=False)}\n"))


app = typer.Typer(
    name="newron",
    cls=Commands,
    rich_markup_mode=None,  # plain help is there at once
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Neural networks that can be read.

    Train a network on a table, read it as rules that are proved equal to it, predict with
    it, and take it elsewhere. Begin with: newron demo
    """
    if version:
        typer.echo(f"newron {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


# ---- commands ----

# What all commands take besides their own arguments.
_SHARED: dict[str, Any] = {
    "context": typer.Context,
    "quiet": Annotated[
        bool, typer.Option("--quiet", "-q", help="Print the result, and nothing else.")
    ],
    "as_json": Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")],
    "debug": Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")],
}


def register(name: str, run: Callable[..., int | None], examples: Sequence[Example]) -> None:
    """Make a command of a function that takes a console and its own arguments."""

    @wraps(run)
    def command(
        *, context: typer.Context, quiet: bool, as_json: bool, debug: bool, **own: Any
    ) -> int | None:
        console = Console(context.obj, quiet=quiet, as_json=as_json)
        with _handle_interrupt(), _handle_warnings(console, debug=debug), _handle_pipe():
            check_apart([own[key] for key in own.keys() - {"output"}], own.get("output"))
            code = run(console, **own)
            sys.stdout.flush()
            return code

    # Typer reads arguments off the signature.
    signature = inspect.signature(run, eval_str=True)
    named = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        each.replace(kind=named) for each in signature.parameters.values() if each.name != "console"
    ] + [inspect.Parameter(k, named, default=False, annotation=v) for k, v in _SHARED.items()]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(name, epilog=_format_examples(examples))(command)


def _format_examples(examples: Sequence[Example]) -> str:
    width = max(len(line) for line, _ in examples)
    lines = [f"  {line:{width}}  # {what}" if what else f"  {line}" for line, what in examples]
    # The sign keeps the parser from filling the lines.
    return "\n".join(["\b", "Examples:", *lines])


@contextmanager
def _handle_warnings(console: Console, *, debug: bool) -> Iterator[None]:
    """Print newron's warnings in a line; those of libraries with --debug alone."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        console.warn(_join(str(message)))

    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
        warnings.simplefilter("always", NewronWarning)
        warnings.simplefilter("error", InterruptedWarning)
        warnings.showwarning = show
        yield


@contextmanager
def _handle_interrupt() -> Iterator[None]:
    """Leave after Ctrl-C with a line; a network that was not trained to its end is none."""
    try:
        yield
    except (KeyboardInterrupt, InterruptedWarning):
        _print_line("interrupted: nothing was written")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _handle_pipe() -> Iterator[None]:
    """Leave in silence when who reads the output has gone."""
    try:
        yield
    except BrokenPipeError:
        # Python would complain when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(PIPE_CLOSED) from None


register("demo", demo.run, demo.EXAMPLES)
register("fit", fit.run, fit.EXAMPLES)
register("evaluate", evaluate.run, evaluate.EXAMPLES)
register("predict", predict.run, predict.EXAMPLES)
register("compare", compare.run, compare.EXAMPLES)
register("rules", rules.run, rules.EXAMPLES)
register("explain", explain.run, explain.EXAMPLES)
register("plot", plot.run, plot.EXAMPLES)
register("report", report.run, report.EXAMPLES)
register("search", search.run, search.EXAMPLES)
register("export", export.run, export.EXAMPLES)
register("prove", prove.run, prove.EXAMPLES)
register("inspect", inspection.run, inspection.EXAMPLES)
register("datasets", datasets.run, datasets.EXAMPLES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and leave with its exit code."""
    # SIGTERM unwinds as Ctrl-C does, so that temporary files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    app(arguments, prog_name="newron")
