"""Proxies, in the process of the tests, for objects that stay in the process of the program.

An object with a plain value is compared here, by that value: to send the comparison would disclose
the expected value to the program. An object without one, and any object in tests of classes, is
asked through its own operators, and the mode of the verdict records it.
"""

from __future__ import annotations

import contextlib
import numbers
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from nel.sandbox.verdict.agent import codec, running, solution

_CLAIMS = {"eq": True, "ne": False, "contains": True}
"""The answer with which an object claims to equal, or to contain, a value."""
_DIFFERS = {"eq": False, "ne": True, "contains": False}
"""The answer by plain value that is not final, since the object's own operator may differ."""


class _ReferenceClass(type):
    """The class of references, which is not the class of what they stand for."""

    def __getattr__(cls, name: str) -> Any:
        raise codec.CannotCross(f"the tests look for {name} in the class of an object")


class Reference(codec.StandIn, metaclass=_ReferenceClass):
    """An object in the program's process."""

    __slots__ = ("_remote", "_target")

    def __init__(self, remote: Any, target: str | int) -> None:
        """Refer to an object by its name or its number."""
        object.__setattr__(self, "_remote", remote)
        object.__setattr__(self, "_target", target)

    def __getattr__(self, name: str) -> Any:
        if name == "__array__":  # numpy looks for it in every object
            raise AttributeError(name)
        if name in ("__mro_entries__", "__dataclass_fields__"):
            raise self._remote.cannot("the tests use an object where only its class will do")
        return self._remote.ask("getattr", self, (name,))

    def __reduce_ex__(self, protocol: object) -> Any:
        raise self._remote.cannot("the tests pickle an object of the program")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        return self._remote.ask("call", self, arguments, options)

    def __contains__(self, key: Any) -> bool:
        remote = self._remote
        if not remote.asks_objects and not remote.ask("decides_contents", self):
            # Without `__contains__` Python compares the items: done here, the key does not cross.
            items = remote.ask("iter", self)
            return any(item is key or item == key for item in items)
        return _holds(self, key) is True

    def __instancecheck__(self, instance: Any) -> bool:
        value = object_of(instance)
        is_known = isinstance(value, codec.StandIn)
        return is_known and self._remote.ask("isinstance", value, (self,)) is True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """End its context, which may suppress an exception but must not skip an assertion."""
        remote = self._remote
        # The program does not learn that an assertion failed, and cannot suppress it.
        if kind is None or kind is AssertionError:
            remote.ask("exit", self, (None, ()))
            return False
        is_suppressed = bool(remote.ask("exit", self, (kind, error.args)))
        if is_suppressed:
            remote.is_compared = True
        line = trace.tb_lineno if trace is not None else 0
        return is_suppressed and not running.would_skip_assertion(line)

    def __deepcopy__(self, memo: object) -> Any:
        """Copy it in the program's process; a memo holds addresses of this one alone."""
        return self._remote.ask("deepcopy", self)

    def __set_name__(self, owner: Any, name: str) -> None:
        """Refuse to be an attribute of a class of the tests, other than a `unittest` case."""
        if not hasattr(owner, "assertEqual"):
            self._remote.cannot(f"the class {owner.__name__} of the tests holds an object")


def _operator(deed: str) -> Callable[..., Any]:
    """Return the method of an operator; its other operand is what the tests expect."""

    def operate(self: Reference, *others: object) -> Any:
        remote = self._remote
        for operand in others:
            remote.check_plain(operand)
        if not remote.asks_objects and not isinstance(others[0], codec.StandIn):
            # Compare by plain value where there is one, so that the expected value stays here.
            content = remote.ask("plain", self)
            if content is not None:
                answer = solution.find_deed(deed)(content, *others)
                if answer is not _DIFFERS.get(deed):
                    return answer
            elif deed == "truediv" and type(others[0]) is str:  # as paths have it
                raise remote.cannot("the tests divide an object by a text")
            elif deed not in _CLAIMS:
                raise TypeError(f"{deed}: an object has no plain value; mode: shared would ask it")
        return _answer(self, deed, *others)

    return operate


_holds = _operator("contains")


def _answer(reference: Reference, deed: str, *others: Any) -> Any:
    """Return an object's own answer about a value; ``NotImplemented`` where it equals anything.

    An object may be written to equal whatever it is compared with, so it is asked about decoys as
    well: a random text, and neighbours of the value. Objects of the program are exempt.
    """
    remote = reference._remote  # noqa: SLF001 - its class stands above
    value = others[0]
    if deed not in _CLAIMS or isinstance(value, codec.StandIn):
        remote.note_comparison(value)
        return remote.ask(deed, reference, others)
    text = os.urandom(8).hex()
    # A range may well contain the neighbours too, so `contains` has the text as its only decoy.
    neighbours = [] if deed == "contains" else _neighbours_of(value)
    claimed = []
    answer: Any = None
    # Shuffled for each comparison: an object that ignores its operand cannot count to the value.
    for question in sorted((value, text, *neighbours), key=lambda _: os.urandom(8)):
        if question is value:
            answer = remote.ask(deed, reference, (value,))
            continue
        with contextlib.suppress(Exception):  # many classes raise for operands of another type
            if bool(remote.ask(deed, reference, (question,))) is _CLAIMS[deed]:
                claimed.append(question)
    if text in claimed or len(claimed) == len(neighbours) > 0:
        return NotImplemented
    if not remote.asks_objects:
        if isinstance(answer, codec.StandIn):  # an array compares item by item: no verdict
            return NotImplemented
        answer = bool(answer)
    if remote.asks_objects or answer is _CLAIMS[deed]:
        remote.note_comparison(value)
    return answer


def _neighbours_of(value: Any) -> list[Any]:
    """Return decoys of the value's kind; no honest object equals the value and all of them.

    An object may compare with a tolerance, or by remainder, but not both.
    """
    if isinstance(value, numbers.Number):
        number: Any = value
        # Adding 1 to 1e300 or to infinity changes nothing.
        return [number + 1, number + 10**9] if number + 1 != number else [0]
    if isinstance(value, (list, tuple, set)):
        return [type(value)((*value, "")), type(value)()]
    if isinstance(value, dict):
        return [{**value, "": value}, {}]
    return []


def _method(deed: str) -> Callable[..., Any]:
    return lambda self, *arguments: self._remote.ask(deed, self, arguments)


def _ask_attribute(name: str, reference: Reference) -> Any:
    return reference.__getattr__(name)


for _name in solution.BINARY:
    for _prefix in ("", "r", "i"):
        # `operator` has ``and_`` and ``iand``.
        _deed = f"{_prefix}{_name}" if _prefix != "i" else f"i{_name.rstrip('_')}"
        setattr(Reference, f"__{_prefix}{_name.rstrip('_')}__", _operator(_deed))
for _name in solution.COMPARED:
    setattr(Reference, f"__{_name}__", _operator(_name))
for _name in (
    *"len iter next reversed str repr format bool hash dir round trunc floor ceil int".split(),
    *"float complex bytes fspath length_hint copy getitem setitem delitem enter".split(),
    *"setattr delattr index neg pos abs invert".split(),
):
    setattr(Reference, f"__{_name}__", _method(_name))
for _name in ("doc", "slots"):
    setattr(Reference, f"__{_name}__", property(partial(_ask_attribute, f"__{_name}__")))


def object_of(value: Any) -> Any:
    """Return the object behind a value that crossed by its content; any other value as it is."""
    if not isinstance(value, codec.ValueStandIn):
        return value
    return vars(value).get("_at", value)
