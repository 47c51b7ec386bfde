"""Leases items to hosts: a host's window grows with its speed, and its items return if it is lost.

An item that was lost with a host is a suspect, and a host gets one suspect at a time: an item that
crashes hosts then exhausts its own attempts, and not those of others that were beside it.
Does no I/O and knows items by number. An item waits, or is with exactly one host.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

FIRST: Final = 4
"""The window of a host whose speed is not yet known."""
MOST: Final = 256
_FAST_SECONDS: Final = 0.1
_SLOW_SECONDS: Final = 0.4
"""An item that takes longer has queued on its host, while another host might be idle."""


@dataclass(slots=True)
class _Host:
    window: int
    """Items that it may have in flight."""
    is_fixed: bool
    leased: set[int] = field(default_factory=set)
    """Items in flight."""
    asking: set[int] = field(default_factory=set)
    """Those of them that wait for an answer of the run, and take no room."""
    suspect: int | None = None
    """The one of them that an earlier host was lost with."""

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
        """The names of the hosts."""
        return list(self._hosts)

    def join(self, host: str, *, capacity: int | None = None) -> None:
        """Add a host.

        Args:
            capacity: A fixed window; None adapts the window to the host's speed, see `adapt`.
        """
        self._hosts[host] = _Host(window=capacity or FIRST, is_fixed=capacity is not None)

    def put(self, number: int) -> None:
        """Add an item."""
        self._waiting.append(number)

    def assign(self) -> dict[str, list[int]]:
        """Lease waiting items to the hosts with most room, and return what each gets."""
        assigned: dict[str, list[int]] = {}
        # Suspects first, and one to a host: a host that is lost again then has one culprit.
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
        """Record that an item waits for an answer of the run, or no longer does."""
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
        """Widen the window of a host that was fast and ran dry; narrow it where items queue.

        Args:
            host: One that has just finished items.
            seconds: How long the slowest of them was at the host, without the network.
            is_dry: Whether the host has nothing left to compute.
        """
        lease = self._hosts.get(host)
        if lease is None or lease.is_fixed:
            return
        # Grow by half, shrink by a quarter: a window that overshoots costs one round of queueing.
        if is_dry and seconds < _FAST_SECONDS:
            lease.window = min(MOST, lease.window + max(2, lease.window // 2))
        elif seconds > _SLOW_SECONDS:
            lease.window = max(2, lease.window - max(1, lease.window // 4))

    def lose(self, host: str) -> tuple[list[int], list[int]]:
        """Remove a host; return its items to try again, and those that were lost too often."""
        lease = self._hosts.pop(host, None)
        if lease is None:
            return [], []
        retries: list[int] = []
        failures: list[int] = []
        for number in sorted(lease.leased):
            n_losses = self._losses.pop(number, 0) + 1
            if n_losses >= self._attempts_max:
                failures.append(number)
            else:
                self._losses[number] = n_losses
                retries.append(number)
        self._suspects.extend(retries)
        return retries, failures
