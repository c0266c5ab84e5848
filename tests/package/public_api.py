"""The public interface: what it is, and whether it is documented.

Public are the names in ``__all__`` of ``newron`` and of its public subpackages, with the public
methods and properties of the classes among them that newron itself defines.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import newron

LIST = Path(__file__).with_name("public_api.txt")
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
# As dataclasses.replace: its parameters are those of the class.
EXEMPT = {"newron.model.Layer.replace", "newron.model.Model.replace"}


def list_packages() -> list[str]:
    """List the public packages and modules."""
    modules = [n for n in newron.__all__ if isinstance(getattr(newron, n), ModuleType)]
    return ["newron", *(f"newron.{name}" for name in modules)]


def list_names(package: str) -> list[str]:
    """List the public names of a package, with parameters, one line each."""
    return sorted(_format_name(name, thing) for name, thing in walk(package))


def walk(package: str) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a package and what they are, members of classes included."""
    module = import_module(package)
    for name in module.__all__:
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            continue
        yield f"{package}.{name}", thing
        if package == "newron" and _is_listed_elsewhere(thing):
            continue  # the members are listed and checked there
        if inspect.isclass(thing) and not issubclass(thing, BaseException | Warning):
            for member, value in _list_members(thing):
                yield f"{package}.{name}.{member}", value


def _is_listed_elsewhere(thing: Any) -> bool:
    modules = [import_module(package) for package in list_packages()[1:]]
    return any(thing is getattr(module, name) for module in modules for name in module.__all__)


def _list_members(owner: type) -> Iterator[tuple[str, Any]]:
    for name in dir(owner):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(owner, name)
        value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        home = value.fget if isinstance(value, property) else getattr(value, "func", value)
        own = (getattr(home, "__module__", None) or "").startswith("newron")
        if own and (inspect.isfunction(home) or isinstance(value, property | cached_property)):
            yield name, value


def _format_name(name: str, thing: Any) -> str:
    if isinstance(thing, property | cached_property) or not _has_parameters(thing):
        return name
    return f"{name}({', '.join(_format_parameter(p) for p in get_parameters(thing))})"


def _format_parameter(parameter: inspect.Parameter) -> str:
    star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    optional = "" if parameter.default is parameter.empty else "="
    return f"{star}{parameter.name}{optional}"


def _has_parameters(thing: Any) -> bool:
    if inspect.isclass(thing):
        return not issubclass(thing, BaseException) and not inspect.isabstract(thing)
    return inspect.isfunction(thing)


def get_parameters(thing: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function or of a class's constructor."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:  # built in
        return []
    is_method = inspect.isfunction(thing) and "." in thing.__qualname__
    return [p for p in parameters if not (is_method and p.name in ("self", "cls"))]


# ---- documentation ----


def find_problems(package: str) -> list[str]:
    """List what the documentation of a package's public names lacks."""
    problems: list[str] = []
    for name, thing in walk(package):
        if name in EXEMPT or (package == "newron" and _is_listed_elsewhere(thing)):
            continue
        if inspect.isclass(thing) or inspect.isfunction(thing):
            problems += [f"{name}: {problem}" for problem in _check(name, thing, package)]
        elif isinstance(thing, property | cached_property) and not inspect.getdoc(thing):
            problems.append(f"{name}: no docstring")
    return problems


def _check(name: str, thing: Any, package: str) -> Iterator[str]:
    text = inspect.getdoc(thing)
    if not text:
        yield "no docstring"
        return
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return
    sections = split_sections(text)
    yield from _check_parameters(thing, sections)
    if inspect.isfunction(thing) and _returns(thing) and not {"Returns", "Yields"} & set(sections):
        yield "no Returns"
    is_member = name.count(".") > package.count(".") + 1
    if not is_member and "Examples" not in sections:
        yield "no Examples"


def _check_parameters(thing: Any, sections: dict[str, str]) -> Iterator[str]:
    if not _has_parameters(thing):
        return
    parameters = get_parameters(thing)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        yield "a parameter behind **"
    # The fields of a dataclass are its parameters too.
    described = "\n".join(sections.get(key, "") for key in ("Parameters", "Attributes"))
    known = {n for line in re.findall(r"^(\S.*)$", described, re.M) for n in _split_names(line)}
    if lacking := [p.name for p in parameters if p.name not in known]:
        yield f"Parameters without {', '.join(lacking)}"
    if inspect.isfunction(thing):
        names = {p.name for p in parameters}
        if surplus := sorted(known - names):
            yield f"Parameters with {', '.join(surplus)}, which it does not have"


def _split_names(line: str) -> list[str]:
    return [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]


def _returns(function: Callable[..., Any]) -> bool:
    return function.__annotations__.get("return") not in (None, "None", "NoReturn")


def split_sections(text: str) -> dict[str, str]:
    """Split a docstring into its numpydoc sections."""
    _, *rest = SECTION.split(text)
    return dict(zip(rest[::2], rest[1::2], strict=True))
