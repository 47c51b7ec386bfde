"""Exceptions of the program in its tests: of known classes as they are, of others by a stand-in."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

from nel.sandbox.verdict.agent import codec, running

_TEXT_CHARACTERS_MAX = 4_000
_NAME_CHARACTERS_MAX = 100
_STEERING_MODULES = ("nel", "unittest", "doctest", "pytest", "_pytest", "__main__")
"""Modules whose exceptions mean something to what runs tests."""


class ProgramError(codec.ValueStandIn):
    """Base of what stands for exception classes of the program; attributes are asked of it."""

    _remote: Any
    _name = ""
    """Of its class, as the program knows it."""
    _text = ""

    def __init__(self, *_: Any) -> None:
        """Refuse: an exception that tests make is an object of the program's class.

        The tests decide how they are run: where they expect no exceptions, a class of the task is
        none, whatever the program derives it from.
        """
        if not running.expects_exceptions(self._name):
            raise self._remote.fail("nonsense", f"{self._name} is an exception and no class")
        raise self._remote.cannot("the tests make an exception of a class of the program")

    def __str__(self) -> str:
        return self._text


class Exceptions:
    """The exceptions that have come from a program, by number, and their classes."""

    def __init__(self, remote: Any) -> None:
        """Decode what the program of this channel says of its exceptions."""
        self._remote = remote
        self._errors: dict[int, tuple[Any, str]] = {}
        """With the program's own traceback."""
        self.classes: dict[str, Any] = {}

    def get(self, number: int) -> Any:
        """Return the exception of a number; None for another object."""
        return self._errors.get(number, (None, ""))[0]

    def trace_of(self, error: BaseException) -> str | None:
        """Return the program's own traceback of an exception that it raised."""
        for item, trace in self._errors.values():
            if item is error:
                return trace
        return None

    def decode(self, described: Mapping[str, Any]) -> Any:
        """Return what stands for an exception; the same for the same one.

        Raises:
            codec.BadValue: It is none.
        """
        number = described["ref"]
        if type(number) is not int:
            raise codec.BadValue("no exception")
        if number not in self._errors:
            kind, arguments = self.class_of(described["class"]), described["args"]
            error = kind.__new__(kind, *arguments)
            error.args = arguments
            self._errors[number] = error, str(described["trace"])[:_TEXT_CHARACTERS_MAX]
        error = self.get(number)
        if isinstance(error, ProgramError):
            error._at = self._remote.reference(number)  # noqa: SLF001 - its class stands above
            error._text = str(described["text"])  # noqa: SLF001
        for name, field in described["fields"].items():
            is_method = callable(getattr(type(error), name, None))  # which `unittest` calls
            if not is_method and not name.startswith("_"):
                with contextlib.suppress(AttributeError, TypeError):  # not all can be set
                    setattr(error, name, field)
        return error

    def class_of(self, tree: list[Any]) -> Any:
        """Return the exception class of a name, its bases following: the tests' own, or a stand-in."""
        address, *trees = tree
        if address not in self.classes:
            module, _, name = address.rpartition(":")
            # A program may define its own TimeoutError, which tests name without an import.
            kind = _imported_exception("builtins" if module == codec.PROGRAM else module, name)
            if kind is None:
                bases = tuple(map(self.class_of, trees))
                if not any(issubclass(base, ProgramError) for base in bases):
                    bases = (ProgramError, *bases)
                fields = {"_remote": self._remote, "_name": name}
                kind = type(name[:_NAME_CHARACTERS_MAX], bases, fields)
            self.classes[address] = kind
        return self.classes[address]


def _imported_exception(module: str, name: str) -> Any:
    """Return an exception of an imported module; None that steers a run of tests."""
    package = module.partition(".")[0]
    if module not in sys.modules or package in _STEERING_MODULES:
        return None
    kind = vars(sys.modules[module]).get(name)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return kind
    return None
