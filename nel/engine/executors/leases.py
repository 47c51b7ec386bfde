"""Which item is leased to which host: small leases that grow with its speed, and are given out
again when it is lost.

Of the items that a lost host had, a host gets one at a time: one that takes hosts down takes no
other with it for good.
Pure: it holds numbers of items. An item waits, or is with exactly one host.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

FIRST: Final = 4
"""Items in flight with a host of which nothing is known yet."""
MOST: Final = 256
_FAST_SECONDS: Final = 0.1
_SLOW_SECONDS: Final = 0.4
"""An item that is with its host for longer waits after others, which another host could have."""


@dataclass(slots=True)
class _Host:
    window: int
    is_fixed: bool
    leased: set[int] = field(default_factory=set)
    """Items in flight."""
    asking: set[int] = field(default_factory=set)
    """Those of them that wait for an answer of the run, and do not compute."""
    suspect: int | None = None
    """The one of them that was lost with a host before."""

    @property
    def room(self) -> int:
        return self.window - len(self.leased) + len(self.asking)


class Leases:
    """Items that wait and items in flight, by host."""

    def __init__(self, *, attempts_max: int) -> None:
        """Begin without hosts.

        Args:
            attempts_max: Hosts with which an item may be lost.
        """
        self._attempts_max = attempts_max
        self._hosts: dict[str, _Host] = {}
        self._waiting: deque[int] = deque()
        self._suspects: deque[int] = deque()
        self._losses: dict[int, int] = {}

    @property
    def hosts(self) -> list[str]:
        """Return the hosts."""
        return list(self._hosts)

    def join(self, host: str, *, capacity: int | None = None) -> None:
        """Add a host.

        Args:
            capacity: Items that it may have in flight; None: as many as it computes in a fraction
                of a second.
        """
        self._hosts[host] = _Host(window=capacity or FIRST, is_fixed=capacity is not None)

    def put(self, number: int) -> None:
        """Add an item."""
        self._waiting.append(number)

    def assign(self) -> dict[str, list[int]]:
        """Lease waiting items to the hosts with most room, and return what each gets."""
        assigned: dict[str, list[int]] = {}
        for name, host in self._hosts.items():
            if self._suspects and host.suspect is None and host.room > 0:
                host.suspect = self._suspects.popleft()
                host.leased.add(host.suspect)
                assigned[name] = [host.suspect]
        while self._waiting and self._hosts:
            name, host = max(self._hosts.items(), key=lambda entry: entry[1].room)
            if host.room <= 0:
                break
            number = self._waiting.popleft()
            host.leased.add(number)
            assigned.setdefault(name, []).append(number)
        return assigned

    def set_asking(self, host: str, number: int, *, is_asking: bool) -> None:
        """Note that an item waits for an answer of the run, or goes on."""
        lease = self._hosts.get(host)
        if lease is None or number not in lease.leased:
            return
        if is_asking:
            lease.asking.add(number)
        else:
            lease.asking.discard(number)

    def holds(self, host: str, number: int) -> bool:
        """Return whether an item is leased to this host."""
        lease = self._hosts.get(host)
        return lease is not None and number in lease.leased

    def finish(self, host: str, number: int) -> bool:
        """Take a finished item out; return False where the host does not hold it."""
        lease = self._hosts.get(host)
        if lease is None or number not in lease.leased:
            return False
        lease.leased.remove(number)
        lease.asking.discard(number)
        self._losses.pop(number, None)
        if lease.suspect == number:
            lease.suspect = None
        return True

    def adapt(self, host: str, seconds: float, *, is_dry: bool) -> None:
        """Give a host more at once that was quick and had nothing left, and less one where items
        wait for each other.

        Args:
            host: One that has just finished items.
            seconds: That the slowest of them was with the host, the way there and back left out.
            is_dry: Whether it has nothing left to compute.
        """
        lease = self._hosts.get(host)
        if lease is None or lease.is_fixed:
            return
        if is_dry and seconds < _FAST_SECONDS:
            lease.window = min(MOST, lease.window + max(2, lease.window // 2))
        elif seconds > _SLOW_SECONDS:
            lease.window = max(2, lease.window - max(1, lease.window // 4))

    def lose(self, host: str) -> tuple[list[int], list[int]]:
        """Remove a host; return its items to try again, and those that were lost too often."""
        lease = self._hosts.pop(host, None)
        again: list[int] = []
        given_up: list[int] = []
        for number in sorted(lease.leased) if lease is not None else ():
            self._losses[number] = self._losses.get(number, 0) + 1
            (given_up if self._losses[number] >= self._attempts_max else again).append(number)
        for number in given_up:
            del self._losses[number]
        self._suspects.extend(again)
        return again, given_up
