"""What may cross between a program and its tests, and what comes of bytes that nobody should send."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import json
import math
import uuid
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.sandbox.agent import codec

HASHABLE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.complex_numbers(allow_nan=False),
)
PLAIN = st.recursive(
    HASHABLE | st.decimals(allow_nan=False) | st.fractions() | st.dates() | st.datetimes() | st.timedeltas(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.sets(HASHABLE, max_size=4)
        | st.frozensets(HASHABLE, max_size=4)
    ),
    max_leaves=12,
)


def refuse(value: Any) -> int:
    raise codec.CannotCross(type(value).__name__)


def there_and_back(value: Any) -> Any:
    return codec.decode(codec.loads(codec.dumps(codec.encode(value, refuse))), lambda number: ("reference", number))


@given(PLAIN)
def test_plain_values_cross_whole(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


class Liar(str):
    """Text that says something else when it is asked."""

    __slots__ = ()

    def __str__(self) -> str:
        return "wrong"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


def test_what_a_class_overrides_does_not_cross() -> None:
    """Text, numbers and containers of the program's own classes cross as the plain value that they hold."""
    back = there_and_back(Liar("right"))
    assert (type(back), back) == (str, "right")
    number = type("Seven", (int,), {"__index__": lambda _: 7, "__int__": lambda _: 7, "__add__": lambda *_: 7})(5)
    assert there_and_back(number) == 5
    items = type("Empty", (list,), {"__iter__": lambda _: iter(()), "__len__": lambda _: 0})([1, 2])
    assert there_and_back(items) == [1, 2]


def test_numbers_that_json_does_not_have() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert there_and_back([math.inf, -math.inf, -0.0]) == [math.inf, -math.inf, -0.0]
    assert there_and_back(10**6000) == 10**6000
    assert there_and_back(range(0, 10**30, 3)) == range(0, 10**30, 3)
    assert there_and_back("\ud800 lone") == "\ud800 lone"


class LyingInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __add__(self, other: object) -> Any:
        return 42


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        return iter([4, 2])

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@pytest.mark.parametrize(
    ("lying", "honest"),
    [
        (LyingInt(7), 7),
        (LyingList([1]), [1]),
        (type("Text", (str,), {"__eq__": lambda *_: True})("x"), "x"),
    ],
)
def test_a_subclass_is_reduced_to_what_it_derives_from(lying: Any, honest: Any) -> None:
    back = there_and_back(lying)
    assert type(back) is type(honest)
    assert honest.__eq__(back)


def test_everything_else_is_a_reference_or_refused() -> None:
    with pytest.raises(codec.CannotCross, match="function"):
        there_and_back(lambda: 1)
    assert codec.encode(object(), lambda _: 7) == ["R", 7]
    assert codec.decode(["R", 7], lambda number: ("reference", number)) == ("reference", 7)


def test_tuples_that_are_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = (deep,)
    with pytest.raises(codec.TooDeep):
        codec.encode(deep, refuse)


def test_containers_keep_their_identity_and_may_be_deep() -> None:
    """Two places that hold one list still do, a list may hold itself, and lists may be nested very deep."""
    row = [0]
    left, right, table = there_and_back([row, row, {"row": row}])
    assert left is right is table["row"]
    own: list[Any] = []
    own.append(own)
    back = there_and_back(own)
    assert back[0] is back
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    back = there_and_back(deep)
    depth = 0
    while back:
        back, depth = back[0], depth + 1
    assert depth == 10_000


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_foreign_data_is_a_value_or_refused_and_nothing_else(data: Any) -> None:
    try:
        value = codec.decode(data, lambda number: number)
    except codec.BadValue:
        return
    assert not callable(value)


@pytest.mark.parametrize(
    "text", ["", "[", "{" * 100_000, "[" * 100_000, "nan", "Infinity", "1" * 5000, '["l",', "\x00", '{"a":1}{']
)
def test_bytes_that_are_no_message_are_refused(text: str) -> None:
    with pytest.raises(codec.BadValue):
        codec.loads(text.encode())


@pytest.mark.parametrize(
    "data",
    [
        ["l"],
        ["l", 1],
        ["x", []],
        ["i", "zz"],
        ["f", "pi"],
        ["b", "0"],
        ["c", ["1"]],
        ["T", ["eval", "1"]],
        ["d", [1]],
        {"l": []},
    ],
)
def test_values_that_nobody_encodes_are_refused(data: Any) -> None:
    with pytest.raises(codec.BadValue):
        codec.decode(json.loads(json.dumps(data)), lambda number: number)


def test_times_fractions_and_views() -> None:
    value = {
        "when": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        "part": fractions.Fraction(1, 3),
        "exact": decimal.Decimal("1.10"),
        "queue": collections.deque([1, 2], maxlen=5),
    }
    back = there_and_back(value)
    assert back == value
    assert back["queue"].maxlen == 5
    assert there_and_back({"a": 1}.keys()) == {"a"}
    assert there_and_back({"a": 1}.items()) == {("a", 1)}
    assert list(there_and_back({"a": 1}.values())) == [1]


def test_classes_and_values_of_the_standard_library_cross_by_name_and_parts() -> None:
    """What has the name of such a class and is another is a reference."""
    values = (int, ValueError, type(None), ..., NotImplemented, slice(1, None, 2), uuid.UUID(int=5), array("i", [1, 2]))
    assert there_and_back(values) == values
    made = there_and_back(collections.defaultdict(list, a=[1]))
    assert (made, made["b"], type(made)) == ({"a": [1], "b": []}, [], collections.defaultdict)
    assert there_and_back(collections.defaultdict(lambda: "none"))["x"] == "none"
    liar = type("UUID", (), {"__module__": "uuid", "__str__": lambda _: "5"})()
    assert codec.encode(liar, lambda _: 7) == ["R", 7]


def test_what_can_change_unseen_crosses_as_an_answer_alone() -> None:
    with pytest.raises(codec.CannotCross):
        codec.encode(array("i", [1]), refuse, is_answer=False)


def test_the_collections_that_tests_know_keep_their_kind() -> None:
    counted = there_and_back(collections.Counter("aab"))
    assert (counted, counted.most_common(1)) == ({"a": 2, "b": 1}, [("a", 2)])
    assert there_and_back(collections.OrderedDict(a=1, b=2)) != collections.OrderedDict(b=2, a=1)
    pair = there_and_back(collections.namedtuple("Pair", "x y")(1, 2))
    assert (pair, pair.x, pair.y) == ((1, 2), 1, 2)
