"""What stands for an object of the program in its tests: a reference that asks over the channel.

An object that a function returned equals a plain value by what it holds, without being asked: the
question would hand the program the value that is expected of it. An object that holds none, and any
object in tests of classes, is asked for what its operators say, and the verdict's mode says so.
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
"""What an object answers that equals something, or holds it."""
_DIFFERS = {"eq": False, "ne": True, "contains": False}
"""What leaves open whether the object says otherwise than what it holds."""


class _ReferenceClass(type):
    """The class of references, which is not the class of what they stand for."""

    def __getattr__(cls, name: str) -> Any:
        raise codec.CannotCross(f"the tests look for {name} in the class of an object")


class Reference(codec.StandIn, metaclass=_ReferenceClass):
    """An object in the program's process."""

    __slots__ = ("_remote", "_target")

    def __init__(self, remote: Any, target: str | int) -> None:
        """Stand for the object of a name or of a number."""
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
            items = remote.ask("iter", self)
            return any(item is key or item == key for item in items)
        return _holds(self, key) is True

    def __instancecheck__(self, instance: Any) -> bool:
        value = object_of(instance)
        is_known = isinstance(value, codec.StandIn)
        return is_known and self._remote.ask("isinstance", value, (self,)) is True

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """End its context, which may suppress an exception, but skip no assertion by that."""
        remote = self._remote
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
        """Stand in a class of the tests, which asks it for nothing if it is a `unittest` case."""
        if not hasattr(owner, "assertEqual"):
            self._remote.cannot(f"the class {owner.__name__} of the tests holds an object")


def _operator(deed: str) -> Callable[..., Any]:
    """Return the method of an operator, whose other side holds what the tests expect."""

    def operate(self: Reference, *others: object) -> Any:
        remote = self._remote
        for operand in others:
            remote.check_plain(operand)
        if not remote.asks_objects and not isinstance(others[0], codec.StandIn):
            # What is expected stays here where the object says what it holds.
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
    """Return what an object says of another; ``NotImplemented`` where it equals everything.

    Objects of the program may equal each other, whatever they are.
    """
    remote = reference._remote  # noqa: SLF001 - its class stands above
    value = others[0]
    if deed not in _CLAIMS or isinstance(value, codec.StandIn):
        remote.note_comparison(value)
        return remote.ask(deed, reference, others)
    text = os.urandom(8).hex()
    # An object may well hold every number: of what it holds, only the text is asked.
    neighbours = [] if deed == "contains" else _neighbours_of(value)
    claimed = []
    answer: Any = None
    # In an order of this question alone, so that an object that does not look has to guess.
    for question in sorted((value, text, *neighbours), key=lambda _: os.urandom(8)):
        if question is value:
            answer = remote.ask(deed, reference, (value,))
            continue
        with contextlib.suppress(Exception):  # of a class that knows its own kind alone
            if bool(remote.ask(deed, reference, (question,))) is _CLAIMS[deed]:
                claimed.append(question)
    if text in claimed or len(claimed) == len(neighbours) > 0:
        return NotImplemented
    if not remote.asks_objects:
        if isinstance(answer, codec.StandIn):  # as an array has it: nothing is known of it
            return NotImplemented
        answer = bool(answer)
    if remote.asks_objects or answer is _CLAIMS[deed]:
        remote.note_comparison(value)
    return answer


def _neighbours_of(value: Any) -> list[Any]:
    """Return values of the same kind, of which no object equals each that equals this one.

    An object may equal what is near its number, or what has the same remainder, but not both.
    """
    if isinstance(value, numbers.Number):
        number: Any = value
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
    """Return what a value stands for that crossed by what it holds; any other as it is."""
    if not isinstance(value, codec.ValueStandIn):
        return value
    return vars(value).get("_at", value)
