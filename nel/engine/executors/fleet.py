"""The contract of a fleet: hosts on other machines, and the packets to and from them.

A host is a process of ``python -m nel.engine.executors.host``. A fleet starts hosts and carries
packets without opening them. `nel.engine.executors.leased` makes an executor of a fleet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from nel.engine.executors.wire import HostKind


@dataclass(frozen=True, slots=True)
class Joined:
    """A host has been started; its first packet follows."""

    host: str
    """Never used for another host."""
    kind: HostKind
    node: str
    """The machine, as users know it."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of a host."""

    host: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Left:
    """A host is gone."""

    host: str
    reason: str
    is_own_fault: bool = True
    """Whether its process ended by itself, so that another one there would, too."""


Event: TypeAlias = "Joined | Packet | Left"


class FleetLost(Exception):
    """The fleet is gone as a whole; the message says how."""


class Fleet(Protocol):
    """Hosts of one session."""

    async def open(self, starts: Mapping[HostKind, bytes]) -> int:
        """Begin to start hosts, and return how many are expected to join at once.

        Args:
            starts: The kinds of host that are wanted, and the first packet to each host of a kind.

        Raises:
            PreflightError: There can be none, or none of a kind.
        """
        ...

    def events(self) -> AsyncIterator[Event]:
        """Yield what happens, in order for each host.

        Raises:
            FleetLost: The fleet is gone.
        """
        ...

    def send(self, host: str, packet: bytes) -> None:
        """Send a packet; it is lost where the host is."""

    def end(self, host: str) -> None:
        """Give a host up, whether it answers or not; `Left` may follow."""

    def facts(self) -> Mapping[str, Any]:
        """Return as JSON where this is."""
        ...

    def close(self) -> None:
        """End every host and whatever else was started."""
