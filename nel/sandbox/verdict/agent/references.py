"""What stands for an object of the program in its tests: a reference that asks over the channel.

The program's own methods see a plain value only where the tests made their object of a class: any
other question would hand the program the value that is expected of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, partialmethod
from typing import Any

from nel.sandbox.verdict.agent import codec, solution


class _ReferenceClass(type):
    """The class of references, which is not the class of what they stand for."""

    def __getattr__(cls, name: str) -> Any:
        raise codec.CannotCross(f"the tests look for {name} in the class of an object")


class Reference(codec.StandIn, metaclass=_ReferenceClass):
    """An object in the program's process; equal to nothing but another of its objects."""

    __slots__ = ("_is_made", "_makes", "_remote", "_target")

    def __init__(
        self,
        remote: Any,
        target: Mapping[str, Any],
        *,
        is_made: bool = False,
        makes: bool = False,
    ) -> None:
        """Stand for an object.

        Args:
            target: Its name or its number, as the program is told.
            is_made: The tests made it by calling a class.
            makes: It is a class, by the task's text.
        """
        if is_made or makes:
            target = {**target, "is_made": True}
        names = {"_remote": remote, "_target": target, "_is_made": is_made, "_makes": makes}
        for name, value in names.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name == "__array__":  # numpy looks for it in every object
            raise AttributeError(name)
        if name in ("__mro_entries__", "__dataclass_fields__"):
            raise self._remote.cannot("the tests use an object where only its class will do")
        return self._remote.ask("getattr", self._target, (name,))

    def __reduce_ex__(self, protocol: object) -> Any:
        raise self._remote.cannot("the tests pickle an object of the program")

    def __setattr__(self, name: str, value: object) -> None:
        self._remote.ask("setattr", self._target, (name, value))

    def __delattr__(self, name: str) -> None:
        self._remote.ask("delattr", self._target, (name,))

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call it in the program's process."""
        value = self._remote.ask("call", self._target, arguments, options)
        return (
            self._remote.reference_to(value) if self._makes and type(value) is Reference else value
        )

    def __contains__(self, key: Any) -> bool:
        if self._is_made:
            return self._remote.ask("contains", self._target, (key,)) is True
        return any(item is key or item == key for item in self._remote.ask("iter", self._target))

    def __instancecheck__(self, instance: Any) -> bool:
        value = object_of(instance)
        return (
            type(value) is Reference
            and self._remote.ask("isinstance", target_of(value), (self,)) is True
        )

    def __subclasscheck__(self, kind: Any) -> bool:
        is_known = type(kind) is Reference
        return is_known and self._remote.ask("issubclass", target_of(kind), (self,)) is True

    def __exit__(self, kind: Any, error: Any, trace: object) -> None:
        """End its context; it suppresses nothing, or it would suppress failed assertions."""
        is_told = kind is not None and kind is not AssertionError
        self._remote.ask("exit", self._target, (kind, error.args) if is_told else (None, ()))

    def __set_name__(self, owner: Any, name: str) -> None:
        """Stand in a class of the tests, which asks it for nothing if it is a `unittest` case."""
        if not hasattr(owner, "assertEqual"):
            self._remote.cannot(f"the class {owner.__name__} of the tests holds an object")

    def __deepcopy__(self, memo: object) -> Any:
        """Copy it in the program's process; a memo holds addresses of this one alone."""
        return self._remote.ask("deepcopy", self._target)


def _operate(deed: str, reference: Reference, *others: object) -> Any:
    """Ask an object for the result of an operator; what comes of one that is made is made, too."""
    remote = reference._remote  # noqa: SLF001 - its class stands above
    is_made = reference._is_made  # noqa: SLF001
    remote.is_compared = remote.is_compared or bool(others) or is_made
    result = remote.ask(deed, target_of(reference), others)
    if type(result) is not Reference:
        return result
    if deed.startswith("i") and number_of(result) == number_of(reference):
        return reference
    return remote.reference_to(result) if is_made else result


def _operator(deed: str) -> Callable[..., Any]:
    """Return the method of an operator, whose other side holds what the tests expect."""

    def operate(self: Reference, other: object, *modulus: object) -> Any:
        remote = self._remote
        remote.check_plain(other)
        if type(other) is not Reference and not self._is_made:
            plain = remote.ask("plain", self._target)
            if plain is None and deed == "truediv" and type(other) is str:  # as paths have it
                raise remote.cannot("the tests divide an object by a text")
            return NotImplemented if plain is None else solution.find_deed(deed)(plain, other)
        return _operate(deed, self, other, *modulus)

    return operate


def _ask_attribute(name: str, reference: Reference) -> Any:
    return reference.__getattr__(name)


def _method(deed: str) -> Callable[..., Any]:
    return lambda self, *arguments: self._remote.ask(deed, self._target, arguments)


for _name in solution.BINARY:
    setattr(Reference, f"__{_name.rstrip('_')}__", _operator(_name))
    setattr(Reference, f"__r{_name.rstrip('_')}__", _operator(f"r{_name}"))
    setattr(Reference, f"__i{_name.rstrip('_')}__", _operator(f"i{_name.rstrip('_')}"))
for _name in solution.COMPARED:
    setattr(Reference, f"__{_name}__", _operator(_name))
for _name in solution.UNARY:
    setattr(Reference, f"__{_name}__", partialmethod(partial(_operate, _name)))
for _name in (
    *"len iter next reversed str repr format bool hash dir round trunc floor ceil int".split(),
    *"float complex bytes fspath length_hint copy getitem setitem delitem enter".split(),
):
    setattr(Reference, f"__{_name}__", _method(_name))
for _name in ("doc", "slots"):
    setattr(Reference, f"__{_name}__", property(partial(_ask_attribute, f"__{_name}__")))


def target_of(value: Reference) -> Mapping[str, Any]:
    """Return the name or the number of an object, as the program is told."""
    return value._target  # type: ignore[no-any-return]  # noqa: SLF001 - its class stands above


def number_of(value: Reference) -> Any:
    """Return what the program finds an object by: its number, or its name."""
    return next(iter(target_of(value).values()))


def object_of(value: Any) -> Any:
    """Return what a value stands for that crossed by what it holds; any other as it is."""
    return vars(value).get("_at", value) if isinstance(value, codec.ValueStandIn) else value
