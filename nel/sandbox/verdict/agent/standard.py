"""Values of the standard library that can cross between a program and its tests."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import datetime
import decimal
import fractions
import functools
import importlib
import sys
import types
import zoneinfo
from collections.abc import Callable
from typing import Any

CONTAINERS: tuple[type, ...] = (
    list,
    dict,
    set,
    bytearray,
    collections.deque,
    collections.defaultdict,
    collections.Counter,
    collections.OrderedDict,
)
"""Mutable containers: they cross as one object that both processes update."""
_MAPPINGS = (dict, collections.defaultdict, collections.Counter, collections.OrderedDict)
BY_PARTS: tuple[type, ...] = (
    complex,
    range,
    slice,
    decimal.Decimal,
    fractions.Fraction,
    datetime.timezone,
    zoneinfo.ZoneInfo,
    datetime.date,
    datetime.time,
    datetime.datetime,
    datetime.timedelta,
)
"""Classes whose instances cross as the arguments of their constructor, as `pickle` has them."""
VIEWS = (type({}.keys()), type({}.items()), type({}.values()))  # type: ignore[var-annotated]
CLASSES: dict[str, Any] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and not name.startswith("_")
    # Of exceptions those that a program may handle: not SystemExit and the like.
    if not issubclass(kind, BaseException) or issubclass(kind, Exception)
} | {"NoneType": type(None), "Ellipsis": ..., "NotImplemented": NotImplemented}
CLASSES.update((kind.__name__, kind) for kind in (*BY_PARTS, *CONTAINERS))
"""Classes and constants that cross by name."""
CLASS_NAMES = {id(kind): name for name, kind in CLASSES.items()}
_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_OF_CLASSES = frozenset(
    "__module__ __doc__ __dict__ __weakref__ __slots__ __annotations__ __orig_bases__ __init__"
    " __parameters__ __abstractmethods__ _abc_impl __firstlineno__ __static_attributes__".split()
)
_OF_TUPLES = _OF_CLASSES | {*vars(collections.namedtuple("_Empty", ()))}
"""Members that every class, and every class of named tuples, has: they are not behaviour."""
REDUCED: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__mul__(value, 1.0)),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (bytes, lambda value: bytes(bytes.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)
"""Immutable classes, with a function that reads the value below a subclass's own methods."""


def _moment_of(value: datetime.datetime) -> datetime.datetime:
    """Return the plain equal of a datetime whose class, or time zone, the program defines."""
    moment = datetime.datetime.combine(value.date(), value.time())
    offset = value.utcoffset()
    if offset is None:
        return moment
    moment -= offset
    return moment.replace(tzinfo=datetime.UTC)


_EQUAL_TO_PLAIN: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    *REDUCED,
    (list, lambda value: list(list.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
    (collections.abc.Mapping, dict),
    (collections.abc.Set, set),
    (collections.UserList, list),
    (collections.UserString, str),
    (collections.deque, collections.deque),
    (memoryview, bytes),
    (datetime.datetime, _moment_of),
)


def plain_of(value: Any) -> Any:
    """Return the plain value that an object of a subclass equals; None for any other object."""
    kind = type(value)
    for base, make in _EQUAL_TO_PLAIN:
        if issubclass(kind, base):
            return make(value)
    for base in BY_PARTS:
        if issubclass(kind, base):
            parts = parts_of(value)
            return None if parts is None else base(*parts)
    return None


def view_of(name: str, items: tuple[Any, ...]) -> Any:
    """Return a view of a dictionary that holds these items."""
    if name == "dict_keys":
        return dict.fromkeys(items).keys()
    if name == "dict_items":
        return dict(items).items()
    return dict(enumerate(items)).values()


def parts_of(value: Any) -> Any:
    """Return the parts of a value of `BY_PARTS`; None where its time zone has no plain form."""
    zone = getattr(value, "tzinfo", None)
    if zone is not None and type(zone) not in BY_PARTS:
        return None
    if type(value) is zoneinfo.ZoneInfo:
        return (value.key,)
    # The arguments follow the callable; those of a complex number begin with the class itself.
    return value.__reduce_ex__(4)[1][type(value) is complex :]


def container_kind(value: Any) -> Any:
    """Return the builtin class of a container that crosses as one; None for any other value."""
    kind: Any = type(value)
    if is_numpy(kind, "ndarray"):
        return None if value.dtype.kind in "OV" else kind  # objects and records
    return kind if kind in CONTAINERS else _base_of_container(kind)


@functools.lru_cache(maxsize=256)
def _base_of_container(kind: Any) -> Any:
    if has_members(kind):
        return None
    bases = (base for base in (list, dict, set) if issubclass(kind, base))
    return next(bases, None)


def contents_of(value: Any, kind: Any) -> tuple[Any, Any]:
    """Return the items of a container, and the argument that makes an empty one like it."""
    if kind.__name__ == "ndarray":
        return [value.tobytes()], (value.shape, value.dtype.str)
    if kind in _MAPPINGS:
        items: list[Any] = []
        for pair in kind.items(value):
            items += pair
        return items, getattr(value, "default_factory", None)
    return [*kind.__iter__(value)], getattr(value, "maxlen", None)


def new_container(name: str, made_with: Any) -> Any:
    """Return a container that `refill` gives its contents."""
    if name == "ndarray":
        return importlib.import_module("numpy").zeros(*made_with)
    kind = next(kind for kind in CONTAINERS if kind.__name__ == name)
    if kind is collections.deque:
        return collections.deque(maxlen=made_with)
    return collections.defaultdict(made_with) if kind is collections.defaultdict else kind()


def refill(value: Any, items: list[Any]) -> None:
    """Give a container these contents in place of its own."""
    if is_numpy(type(value), "ndarray"):
        value[...] = new_array(value.dtype, value.shape, *items)
        return
    value.clear()
    if isinstance(value, dict):
        value.update({items[at]: items[at + 1] for at in range(0, len(items), 2)})
    elif isinstance(value, set):
        value.update(items)
    else:
        # One at a time: `sys.getsizeof` of a list depends on how it grew.
        for item in items:
            value.append(item)


def is_numpy(kind: type, name: str) -> bool:
    """Return whether a class is one of numpy's: its arrays, or derived from that of its scalars."""
    if not kind.__module__.startswith("numpy"):
        return False
    numpy = sys.modules.get("numpy")
    # The program may have replaced the module in `sys.modules`.
    base = vars(numpy).get(name) if isinstance(numpy, types.ModuleType) else None
    if base is None or kind is base:
        return base is not None
    return name == "generic" and issubclass(kind, base)


def new_array(kind: Any, shape: tuple[int, ...], data: bytes) -> Any:
    """Return an array of numpy: of a type and a shape, and with these bytes."""
    return importlib.import_module("numpy").frombuffer(data, kind).reshape(shape).copy()


def size_of(container: Any) -> int:
    """Return how many items a container holds."""
    return getattr(container, "size", 0) or len(container)


def owner_of(value: Any) -> Any:
    """Return what a method, or a descriptor of a class, belongs to; None for anything else."""
    if isinstance(value, _METHODS):
        return value.__self__
    return value.__objclass__ if isinstance(value, _DESCRIPTORS) else None


def has_members(kind: type) -> bool:
    """Return whether a class derived from a plain one has methods or attributes of its own."""
    for base in kind.__mro__:
        is_builtin = vars(builtins).get(base.__name__) is base
        if not is_builtin and not _OF_CLASSES.issuperset(vars(base)):
            return True
    return False


def overrides(kind: type, base: type) -> bool:
    """Return whether a class overrides a method of the plain class that it derives from."""
    generated = _OF_TUPLES if hasattr(kind, "_fields") else _OF_CLASSES
    behaviour = {*vars(base)} - generated - {"__new__"}
    derived = kind.__mro__[: kind.__mro__.index(base)]
    return any(not behaviour.isdisjoint(vars(ancestor)) for ancestor in derived)
