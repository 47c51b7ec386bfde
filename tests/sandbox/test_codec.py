"""What may cross between a program and its tests, and what comes of bytes that should never be sent."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import http
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec

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


def there_and_back(value: Any, refer: Any = refuse) -> Any:
    data = channel.loads(channel.dumps(codec.Sender(refer).encode(value)))
    return codec.Receiver(lambda tag, number: ("reference", number)).decode(data)


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

    __hash__ = str.__hash__


def test_what_a_class_overrides_does_not_cross() -> None:
    """Text and numbers of a program's own class cross by value, unless that class is under test."""
    back = there_and_back(Liar("right"), lambda _: ["R", 7])
    assert (back, str(back), back._at) == ("right", "right", ("reference", 7))
    assert back != "wrong"
    items = type("Empty", (list,), {"__iter__": lambda _: iter(()), "__len__": lambda _: 0})([1, 2])
    number = type("Seven", (int,), {"__add__": lambda *_: 7})(5)
    sender = codec.Sender(lambda _: ["R", 7])
    sender.is_of_class = True
    for value, plain in ((Liar("right"), "right"), (number, 5), (items, [1, 2])):
        assert sender.encode(value) == ["R", 7]
        assert sender.plain(value) == plain


def test_numbers_that_json_does_not_have() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert there_and_back([math.inf, -math.inf, -0.0]) == [math.inf, -math.inf, -0.0]
    assert there_and_back(10**6000) == 10**6000
    assert there_and_back(range(0, 10**30, 3)) == range(0, 10**30, 3)
    assert there_and_back("\ud800 lone") == "\ud800 lone"


def test_everything_else_is_a_reference_or_refused() -> None:
    with pytest.raises(codec.CannotCross, match="function"):
        there_and_back(lambda: 1)
    assert codec.Sender(lambda _: ["R", 7]).encode(object()) == ["R", 7]
    receiver = codec.Receiver(lambda tag, number: ("reference", number))
    assert receiver.decode(["R", 7]) == ("reference", 7)


def test_tuples_that_are_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = (deep,)
    with pytest.raises(codec.TooDeep):
        codec.Sender(refuse).encode(deep)


def test_containers_stay_the_same_objects_wherever_they_move() -> None:
    """One in two places is one, and so is one that stands in another place than before."""
    row, other = [1], {"a": 2}
    mine: list[Any] = [row, other, row]
    parts = codec.Parts()
    sender, theirs = codec.Sender(refuse), []  # type: tuple[codec.Sender, list[Any]]
    receiver = codec.Receiver(refuse)
    copy = receiver.decode(sender.encode(mine, parts), theirs)
    assert copy[0] is copy[2]
    first, second = copy[:2]
    mine[:] = [other, [3], row]
    row.append(4)
    changed = sender.encode(mine, codec.Parts(parts.all()))
    assert receiver.decode(changed, [], theirs) is copy
    assert copy == [{"a": 2}, [3], [1, 4]]
    assert copy[0] is second
    assert copy[2] is first


def test_members_of_enumerations_do_not_cross() -> None:
    """`HTTPStatus.OK` is not an integer, and no word of a program names a module."""
    with pytest.raises(codec.CannotCross):
        there_and_back(http.HTTPStatus.OK)


def test_a_value_deeper_than_an_answer_may_be_is_refused() -> None:
    """Otherwise tests could not pass it back, which would be their fault."""
    data: Any = 1
    for _ in range(codec.ANSWER_DEPTH_MAX + 2):
        data = ["l", [data]]
    with pytest.raises(codec.BadValue):
        codec.Receiver(refuse, codec.ANSWER_DEPTH_MAX).decode(data)


@given(st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)))
def test_foreign_data_is_a_value_or_refused_and_nothing_else(data: Any) -> None:
    try:
        value = codec.Receiver(lambda number: number).decode(data)
    except codec.BadValue:
        return
    assert not callable(value)


@pytest.mark.parametrize(
    "text", ["", "[", "{" * 100_000, "[" * 100_000, "nan", "Infinity", "1" * 5000, '["l",', "\x00", '{"a":1}{']
)
def test_bytes_that_are_no_message_are_refused(text: str) -> None:
    with pytest.raises(channel.BadFrame):
        channel.loads(text.encode())


@pytest.mark.parametrize("data", [["l"], ["x", []], ["i", "zz"], ["T", ["eval", "1"]], ["d", [1]], {"l": []}])
def test_values_that_no_encoder_makes_are_refused(data: Any) -> None:
    with pytest.raises(codec.BadValue):
        codec.Receiver(lambda number: number).decode(json.loads(json.dumps(data)))


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
    pair = there_and_back(collections.namedtuple("Pair", "x y")(1, 2))
    assert (pair, pair.x, pair.y) == ((1, 2), 1, 2)
