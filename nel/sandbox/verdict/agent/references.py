"""What stands for an object of the program in its tests: a reference that asks over the channel.

An object that a function returned equals a plain value by what it holds alone: to ask it would hand
the program the value that is expected of it. In tests of classes, objects are asked for what their
operators say, and the verdict's mode says so.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from typing import Any

from nel.sandbox.verdict.agent import codec, running, solution

_CLAIMS = {"eq": True, "ne": False, "contains": True}
"""What an object answers that equals something, or holds it."""


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
        if remote.asks_objects:
            return _answer(self, "contains", key) is True
        return any(item is key or item == key for item in remote.ask("iter", self))

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
        if remote.asks_objects or isinstance(others[0], codec.StandIn):
            return _answer(self, deed, *others)
        # What is expected stays here: the object says what it holds, and that is compared.
        content = remote.ask("plain", self)
        if content is not None:
            return solution.find_deed(deed)(content, *others)
        if deed == "truediv" and type(others[0]) is str:  # as paths have it
            raise remote.cannot("the tests divide an object by a text")
        return NotImplemented

    return operate


def _answer(reference: Reference, deed: str, *others: Any) -> Any:
    """Return what an object says of another; ``NotImplemented`` where it equals everything.

    Objects of the program may equal each other, whatever they are.
    """
    remote = reference._remote  # noqa: SLF001 - its class stands above
    answer = remote.ask(deed, reference, others)
    if answer is _CLAIMS.get(deed) and not isinstance(others[0], codec.StandIn):
        text = os.urandom(8).hex()  # of this question alone, since both processes have one origin
        with contextlib.suppress(Exception):  # of a class that knows its own kind alone
            if remote.ask(deed, reference, (text,)) is answer:
                return NotImplemented
    remote.is_compared = True
    return answer


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
    return vars(value).get("_at", value) if isinstance(value, codec.ValueStandIn) else value
