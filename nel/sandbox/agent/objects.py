"""Objects and functions of the program as its tests see them: each operation is done in the program's process.

What the program's own methods say of two of its objects is asked. What they say of a plain value is asked only of
objects that the tests made of a class: any other question would hand the program the value that is expected of it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Protocol

_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()
_COMPARED = "eq ne lt le gt ge".split()
_UNARY = "neg pos abs invert int float complex index trunc floor ceil".split()
_KINDS: dict[str, type] = {
    "generator": types.GeneratorType,
    "function": types.FunctionType,
    "method": types.MethodType,
    "map": map,
    "filter": filter,
    "zip": zip,
    "list": list,
    "dict": dict,
    "set": set,
}
"""What an object may be said to be, since nothing of it is equal to a value."""
_NOT_ASKED = frozenset(("__array__", "__deepcopy__", "__copy__", "__reduce_ex__", "__getstate__", "__set_name__"))
"""Names that others look for in every object."""


class Remote(Protocol):
    """The program at the other end of the channel."""

    def ask(self, question: dict[str, Any]) -> Any:
        """Return the program's answer."""

    def call(self, target: dict[str, Any], shown: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call something of the program."""

    def encoded(self, value: Any) -> Any:
        """Return a value of the tests as it goes to the program."""

    def failed(self, kind: str, text: str) -> BaseException:
        """Note how the program failed; return it to be raised."""

    def made(self, value: Reference) -> Reference:
        """Return what stands for an object that the tests made of a class."""

    def said_of(self, error: BaseException | None) -> Any:
        """Return what the program is told of an exception of the tests."""

    def class_of(self, name: str, kind: str) -> type | None:
        """Return the tests' own class of a name, for an object of no other kind."""


class Reference:
    """An object that stays in the program's process; equal to nothing but another of its objects."""

    __slots__ = ("_is_made", "_kind", "_remote", "_target")

    def __init__(self, remote: Remote, number: int, kind: str, *, is_made: bool = False) -> None:
        """Stand for the object of this number."""
        for name, value in (("_remote", remote), ("_target", {"ref": number}), ("_is_made", is_made), ("_kind", kind)):
            object.__setattr__(self, name, value)

    @property
    def __class__(self) -> type:
        """Return what `isinstance` is told, which looks at the real type before."""
        return _KINDS.get(self._kind) or self._remote.class_of(type(self).__name__, self._kind) or type(self)

    @__class__.setter
    def __class__(self, value: object) -> None:
        raise TypeError("the class of an object of the program does not change")

    def _ask(self, deed: str, **more: Any) -> Any:
        return self._remote.ask({"do": deed, **self._target, **more})

    def _operate(self, name: str, other: object, *, is_swapped: bool = False) -> Any:
        if not isinstance(other, Reference) and not self._is_made:
            return self._plain_compared(name, other)
        return self._ask("operate", name=name, other=self._remote.encoded(other), swapped=is_swapped)

    def _plain_compared(self, name: str, other: object) -> Any:
        """Compare the plain value of a container of the program's own class with a plain value, here."""
        if name not in ("eq", "ne") or not isinstance(other, (list, dict, set)):
            return NotImplemented
        plain = self._ask("plain")
        if type(plain) not in (list, dict, set):
            return NotImplemented
        return (plain == other) is (name == "eq")

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_ASKED:
            raise AttributeError(name)
        return self._ask("getattr", name=name)

    def __setattr__(self, name: str, value: object) -> None:
        self._ask("setattr", name=name, value=self._remote.encoded(value))

    def __delattr__(self, name: str) -> None:
        self._ask("delattr", name=name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        return self._remote.call(self._target, "an object of the program", arguments, options)

    def __len__(self) -> int:
        length = self._ask("len")
        if type(length) is not int:
            raise TypeError("its length is no integer")
        return length

    def __iter__(self) -> Any:
        return self._ask("iter")

    def __next__(self) -> Any:
        return self._ask("next")

    def __reversed__(self) -> Any:
        return self._ask("reversed")

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key=self._remote.encoded(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("setitem", key=self._remote.encoded(key), value=self._remote.encoded(value))

    def __delitem__(self, key: Any) -> None:
        self._ask("delitem", key=self._remote.encoded(key))

    def __contains__(self, key: Any) -> bool:
        # The question holds what the tests expect, so it is put to objects alone that the tests made of a class.
        if self._is_made:
            return self._ask("in", key=self._remote.encoded(key)) is True
        return any(item is key or item == key for item in self)

    def __bool__(self) -> bool:
        return self._ask("bool") is True

    def __hash__(self) -> int:
        found = self._ask("hash")
        if type(found) is not int:
            raise TypeError("its hash is no integer")
        return hash(found)

    def __str__(self) -> str:
        text = self._ask("str")
        return text if type(text) is str else ""

    def __repr__(self) -> str:
        text = self._ask("repr")
        return text if type(text) is str else ""

    def __format__(self, specification: str) -> str:
        text = self._ask("format", specification=specification)
        return text if type(text) is str else ""

    def __round__(self, digits: int | None = None) -> Any:
        return self._ask("round", digits=digits)

    def __copy__(self) -> Any:
        return self._ask("copy")

    def __deepcopy__(self, memo: object) -> Any:
        return self._ask("deepcopy")

    def __enter__(self) -> Any:
        return self._ask("enter")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        says = self._ask("exit", error=self._remote.said_of(error)) is True
        # A failed assertion is the tests', and no object of the program takes it back.
        return says and isinstance(error, Exception) and not isinstance(error, AssertionError)


def _binary(name: str, *, is_swapped: bool) -> Callable[[Reference, object], Any]:
    return lambda self, other: self._operate(name, other, is_swapped=is_swapped)


def _unary(name: str) -> Callable[[Reference], Any]:
    return lambda self: self._ask("unary", name=name)


for _name in (*_BINARY, *_COMPARED):
    setattr(Reference, f"__{_name}__", _binary(_name, is_swapped=False))
for _name in _BINARY:
    setattr(Reference, f"__r{_name}__", _binary(_name, is_swapped=True))
for _name in _UNARY:
    setattr(Reference, f"__{_name}__", _unary(_name))


class Function:
    """A function or class of the program, by name."""

    def __init__(self, remote: Remote, name: str, *, makes_objects: bool) -> None:
        """Stand for what has this name.

        Args:
            makes_objects: By the task's text it is a class.
        """
        self._remote = remote
        self._target = {"name": name}
        self._makes_objects = makes_objects
        self.__name__ = self.__qualname__ = name

    def number(self) -> int:
        """Return the number of the object that it stands for."""
        found = self._remote.ask({"do": "get", **self._target})
        if not isinstance(found, Reference):
            raise self._remote.failed("nonsense", f"{self.__name__} was callable and is none any more")
        return number_of(found)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        value = self._remote.call(self._target, self.__name__, arguments, options)
        return self._remote.made(value) if self._makes_objects and isinstance(value, Reference) else value

    def __instancecheck__(self, value: Any) -> bool:
        """Return whether an object of the program is of this class; a plain value is of none."""
        if not isinstance(value, Reference):
            return False
        return self._remote.ask({"do": "isinstance", "ref": number_of(value), "name": self.__name__}) is True

    def __subclasscheck__(self, kind: Any) -> bool:
        """Return whether a class of the program derives from this one."""
        if not isinstance(kind, Function):
            return False
        return self._remote.ask({"do": "issubclass", "ref": kind.number(), "name": self.__name__}) is True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Function):
            return self.number() == other.number()
        if isinstance(other, Reference):
            return self.number() == number_of(other)
        return isinstance(other, type) and other.__dict__.get("_stands_for") == self.number()

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __getitem__(self, key: Any) -> Any:
        return self._remote.ask({"do": "item", "name": self.__name__, "key": self._remote.encoded(key)})

    def __iter__(self) -> Any:
        return self._remote.ask({"do": "iter", "name": self.__name__})

    def __len__(self) -> int:
        return int(self._remote.ask({"do": "len", "name": self.__name__}))

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: Any) -> bool:
        return any(item is key or item == key for item in self)

    def __getattribute__(self, name: str) -> Any:
        if name == "__doc__":
            return self._remote.ask({"do": "getattr", "name": self.__name__, "attribute": name})
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        if name in _NOT_ASKED or name in ("__bases__", "__mro__"):
            raise AttributeError(name)
        return self._remote.ask({"do": "getattr", "name": self.__name__, "attribute": name})

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("_remote", "_target", "_makes_objects", "__name__", "__qualname__"):
            super().__setattr__(name, value)
        else:
            asked = {"do": "setattr", "name": self.__name__, "attribute": name}
            self._remote.ask({**asked, "value": self._remote.encoded(value)})


def number_of(value: Reference) -> int:
    """Return the number of the program's object."""
    return int(object.__getattribute__(value, "_target")["ref"])


def made_of(value: Reference) -> Reference:
    """Return a reference to the same object, as what the tests made of a class.

    It is another one than stands for the object elsewhere: an object may return itself in the place of an answer.
    """
    get = object.__getattribute__
    return type(value)(get(value, "_remote"), number_of(value), get(value, "_kind"), is_made=True)


def class_of(name: str, number: int) -> type[Reference]:
    """Return a class for references to objects of a class of the program, with its name."""
    text = property(lambda self: self._ask("getattr", name="__doc__"))
    return type(name, (Reference,), {"__slots__": (), "__doc__": text, "_stands_for": number})
