"""What may cross between a program and its tests, and what comes of bytes that should never be sent."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import http
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec, standard

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


def end(number: int = 0, refer: Any = refuse) -> codec.Codec:
    return codec.Codec(
        refer,
        lambda tag, number: ("reference", number),
        first_number=number,
        sent_depth=codec.DEPTH_MAX,
        received_depth=codec.DEPTH_MAX,
    )


def there_and_back(value: Any, refer: Any = refuse) -> Any:
    return end(1).unpack(channel.loads(channel.dumps(end(0, refer).pack(value))))


def unpack(data: Any) -> Any:
    """Decode data that no encoder need have made."""
    return end().unpack({"value": data, "now": []})


@given(PLAIN)
def test_plain_values_cross_whole(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


class Liar(str):
    """Text that says something else when it is asked."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        return "wrong"

    __hash__ = str.__hash__


def test_what_a_class_overrides_does_not_cross() -> None:
    """Text and numbers of a program's own class cross by value, unless that class is under test."""
    shout = type("Shout", (str,), {"shout": lambda self: self.upper()})
    back = there_and_back(shout("right"), lambda _: ["R", 7])
    assert (back, str(back), back._at) == ("right", "right", ("reference", 7))
    items = type("Empty", (list,), {"__iter__": lambda _: iter(()), "__len__": lambda _: 0})([1, 2])
    number = type("Seven", (int,), {"__add__": lambda *_: 7})(5)
    sender = end(0, lambda _: ["R", 7])
    sender.is_of_class = True
    for value, plain in ((Liar("right"), "right"), (number, 5), (items, [1, 2])):
        assert sender.encode(value) == ["R", 7]
        assert standard.plain_of(value) == plain


def test_numbers_that_json_does_not_have() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert there_and_back([math.inf, -math.inf, -0.0]) == [math.inf, -math.inf, -0.0]
    assert there_and_back(10**6000) == 10**6000
    assert there_and_back(range(0, 10**30, 3)) == range(0, 10**30, 3)
    assert there_and_back("\ud800 lone") == "\ud800 lone"


def test_everything_else_is_a_reference_or_refused() -> None:
    with pytest.raises(codec.CannotCross, match="function"):
        there_and_back(lambda: 1)
    assert there_and_back(object(), lambda _: ["R", 7]) == ("reference", 7)


def test_tuples_that_are_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = (deep,)
    with pytest.raises(codec.CannotCross):
        there_and_back(deep)


def test_lists_cross_at_any_depth_and_may_hold_themselves() -> None:
    deep: list[Any] = []
    deep.append(deep)
    for _ in range(3_000):
        deep = [deep]
    back = there_and_back(deep)
    for _ in range(3_000):
        (back,) = back
    assert back[0] is back


def test_members_of_enumerations_do_not_cross() -> None:
    """`HTTPStatus.OK` is not an integer, and no word of a program names a module."""
    with pytest.raises(codec.CannotCross):
        there_and_back(http.HTTPStatus.OK)


def test_a_value_deeper_than_an_answer_may_be_is_refused() -> None:
    """Otherwise tests could not pass it back, which would be their fault."""
    data: Any = 1
    for _ in range(codec.DEPTH_MAX + 2):
        data = ["tuple", [data]]
    with pytest.raises(codec.BadValue):
        unpack(data)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_foreign_data_is_a_value_or_refused_and_nothing_else(data: Any) -> None:
    try:
        value = unpack(data)
    except codec.BadValue:
        return
    assert not callable(value)


@pytest.mark.parametrize(
    "text", ["", "[", "{" * 100_000, "[" * 100_000, "nan", "Infinity", "1" * 5000, '["l",', "\x00", '{"a":1}{']
)
def test_bytes_that_are_no_message_are_refused(text: str) -> None:
    with pytest.raises(channel.BadFrame):
        channel.loads(text.encode())


@pytest.mark.parametrize(
    "data", [["tuple"], ["x", []], ["i", "zz"], ["T", ["eval", "1"]], ["x", ["map", []]], ["c", 1], {"l": []}]
)
def test_values_that_no_encoder_makes_are_refused(data: Any) -> None:
    with pytest.raises(codec.BadValue):
        unpack(data)


@pytest.mark.parametrize("news", [[[1, ["dict", [1], None]]], [[1, ["object", [], None]]], [[1]], 7])
def test_containers_that_no_encoder_makes_are_refused(news: Any) -> None:
    with pytest.raises(codec.BadValue):
        end().unpack({"value": None, "now": news})


def test_times_fractions_and_queues() -> None:
    value = {
        "when": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC),
        "part": fractions.Fraction(1, 3),
        "exact": decimal.Decimal("1.10"),
        "queue": collections.deque([1, 2], maxlen=5),
    }
    back = there_and_back(value)
    assert back == value
    assert back["queue"].maxlen == 5


def test_classes_and_values_of_the_standard_library_cross_by_name_and_parts() -> None:
    """Builtin classes by name, other values by what they are made of."""
    values = (int, ValueError, type(None), ..., NotImplemented)
    assert there_and_back(values) == values
    made = there_and_back(collections.defaultdict(list, a=[1]))
    assert (made, made["b"], type(made)) == ({"a": [1], "b": []}, [], collections.defaultdict)


def test_the_collections_that_tests_know_keep_their_kind() -> None:
    counted = there_and_back(collections.Counter("aab"))
    assert (counted, counted.most_common(1)) == ({"a": 2, "b": 1}, [("a", 2)])
    assert there_and_back(collections.OrderedDict(a=1, b=2)) != collections.OrderedDict(b=2, a=1)
    pair = there_and_back(collections.namedtuple("Pair", "x y")(1, 2), lambda _: ["R", 7])
    assert (pair, pair._at) == ((1, 2), ("reference", 7))
