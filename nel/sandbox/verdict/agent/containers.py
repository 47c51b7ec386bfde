"""Containers that a program and its tests both have: each end is told what the other has changed.

Those that crossed together are a group with a number. Both ends note the containers of a group in
the same order, so that one that moves, or stands at two places, is the same object at both.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from nel.sandbox.verdict.agent import codec

_PARTS_MAX = 10_000
"""Of a group, and items of a container in it: what is larger is told once."""


class Containers:
    """The groups, by number: each value, its form as the other end has it, its containers."""

    def __init__(
        self,
        refer: Callable[[Any], Any],
        resolve: Callable[[str, Any], Any],
        *,
        sent_depth: int,
        received_depth: int,
    ) -> None:
        """Prepare both directions of a channel, see `codec.Sender` and `codec.Receiver`."""
        self._addresses: dict[int, list[int]] = {}
        """Group of a container and its number there, which it keeps, by its `id`."""
        self.sender = codec.Sender(refer, sent_depth, self._addresses)
        self.receiver = codec.Receiver(self._resolve, received_depth)
        self._resolve_other = resolve
        self._counts: dict[int, Iterator[int]] = {}
        self._groups: dict[int, tuple[Any, Any, dict[int, Any]]] = {}

    def _resolve(self, tag: str, body: Any) -> Any:
        """Return what both ends have at an address, a new group's value, or what is no container."""
        if tag == "c":
            return self._groups[body[0]][2][body[1]]
        if tag != "k":
            return self._resolve_other(tag, body)
        number, form = body
        parts: list[Any] = []
        value = self.receiver.decode(form, parts)
        self.add(number, value, parts, form)
        return value

    def add(self, number: int, value: Any, parts: Sequence[Any], form: Any) -> None:
        """Note a group of values that have just crossed in this form."""
        self._put(number, (value,), parts, ["t", [form]])

    def drop(self, number: int) -> None:
        """Forget a group."""
        for part in self._groups.pop(number)[2].values():
            if self._addresses.get(id(part), [None])[0] == number:
                del self._addresses[id(part)]

    def changes(self) -> dict[int, Any]:
        """Return what has changed of the groups since the other end was told.

        A container that was taken out of its group, and is held elsewhere, stays a part of it.
        """
        news = {}
        for number, (values, previous, known) in [*self._groups.items()]:
            before = [*known.values()]
            try:
                after, parts = self._encode(number, values, before)
                if after == previous:
                    continue
                places = {id(part) for part in parts}
                alone = [part for part in before if id(part) not in places and _is_used(part)]
                grown = (*values, *alone)
                after, parts = self._encode(number, grown, before)
                form = self._encode(number, grown, parts)[0]
            # By now it holds itself, or what does not cross: the other end keeps what it had.
            except Exception:  # noqa: BLE001, S112
                continue
            news[number] = after
            self._put(number, grown, parts, form)
        return news

    def update(self, news: Mapping[Any, Any]) -> None:
        """Change what the other end has changed; raises `codec.BadValue`."""
        for key, data in news.items():
            number, parts = int(key), []  # type: tuple[int, list[Any]]
            values = self.receiver.decode(data, parts, [*self._groups[number][2].values()])
            self._put(number, values, parts, self._encode(number, values, parts)[0])

    def losses(self) -> list[int]:
        """Forget groups that are held nowhere else, or too large; return their numbers."""
        numbers = [
            number
            for number, (_, _, parts) in self._groups.items()
            if not is_held(parts.values())
            or max(len(parts), *map(_size, parts.values())) > _PARTS_MAX
        ]
        for number in numbers:
            self.drop(number)
        return numbers

    def _put(self, number: int, values: Any, parts: Sequence[Any], form: Any) -> None:
        """Note a group; new containers get the next numbers, in the same order at both ends."""
        numbers: dict[int, int] = {}
        if number in self._groups:
            numbers = {id(part): at for at, part in self._groups[number][2].items()}
            self.drop(number)
        else:
            self._counts[number] = itertools.count()
        free = self._counts[number]
        known = {numbers[id(part)] if id(part) in numbers else next(free): part for part in parts}
        self._groups[number] = (values, form, known)
        self._addresses.update((id(part), [number, at]) for at, part in known.items())

    def _encode(self, number: int, values: Any, before: Sequence[Any]) -> tuple[Any, list[Any]]:
        parts = codec.Parts(before, number)
        return self.sender.encode(values, parts), parts.all()


def is_held(parts: Iterable[Any]) -> bool:
    """Return whether a container is held by more than its list, and what it is a part of."""
    return any(sys.getrefcount(part) > _REFERENCES for part in parts)


def _is_used(part: Any) -> bool:
    """Return whether something holds a container beside its group, a list, a loop and this call."""
    return sys.getrefcount(part) > _REFERENCES + 1


def _size(part: Any) -> int:
    return getattr(part, "size", 0) or len(part)


def _references_unheld() -> int:
    """Return what `sys.getrefcount` says, in this interpreter, of a container that is not held."""
    holder = ([],)  # type: tuple[list[Any]]
    return max(sys.getrefcount(part) for part in [*holder])


_REFERENCES = _references_unheld()
