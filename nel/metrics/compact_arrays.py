"""Arrays that hold one number per question in little memory. Depends on numpy.

`CompactFloats` takes a byte per number up to 256 distinct values and eight bytes from the 257th on;
the numbers stay equal to the bit. `CompactRanges` stores consecutive positions as ranges.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from nel.metrics.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VALUES_MAX: Final = 256


class CompactFloats:
    """Finite numbers in the order in which they were added."""

    __slots__ = ("_codes", "_numbers", "_values")

    def __init__(self) -> None:
        """Start empty."""
        self._codes = bytearray()
        self._values: dict[float, int] = {}
        self._numbers: array[float] | None = None

    def append(self, value: float) -> None:
        """Add a number."""
        if self._numbers is not None:
            self._numbers.append(value)
            return
        code = self._values.setdefault(value, len(self._values))
        if code < _VALUES_MAX:
            self._codes.append(code)
        else:
            del self._values[value]
            self._numbers = array("d", self)
            self._numbers.append(value)
            self._codes = bytearray()

    def extend(self, values: NDArray[np.float64]) -> None:
        """Add numbers; none is a negative zero, which would be another one here than in
        `append`.
        """
        if self._numbers is None:
            distinct, places = np.unique(values, return_inverse=True)
            known = len(self._values)
            codes = [
                self._values.setdefault(value, len(self._values)) for value in distinct.tolist()
            ]
            if len(self._values) <= _VALUES_MAX:
                self._codes += np.array(codes, dtype=np.uint8)[places].tobytes()
                return
            for value in list(self._values)[known:]:
                del self._values[value]
            self._numbers = array("d", self)
            self._codes = bytearray()
        self._numbers.frombytes(np.ascontiguousarray(values, dtype=np.float64).tobytes())

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self._codes) if self._numbers is None else len(self._numbers)

    def __getitem__(self, index: int) -> float:
        """Return the number at an index.

        Raises:
            IndexError: There are fewer numbers.
        """
        return (
            list(self._values)[self._codes[index]]
            if self._numbers is None
            else self._numbers[index]
        )

    def __iter__(self) -> Iterator[float]:
        """Yield the numbers in order."""
        if self._numbers is not None:
            yield from self._numbers
            return
        values = list(self._values)
        for code in self._codes:
            yield values[code]

    def as_array(self) -> NDArray[np.float64]:
        """Return the numbers as a float64 array."""
        if self._numbers is not None:
            return np.array(self._numbers)
        return np.array(list(self._values), dtype=np.float64)[
            np.frombuffer(bytes(self._codes), dtype=np.uint8)
        ]

    @property
    def is_constant(self) -> bool:
        """Return whether all numbers are equal; True for none."""
        return self._numbers is None and len(self._values) <= 1


class CompactRanges:
    """Integers in ascending order, stored as ranges."""

    __slots__ = ("_lengths", "_starts")

    def __init__(self) -> None:
        """Start empty."""
        self._starts = array("q")
        self._lengths = array("q")

    def append(self, position: int) -> None:
        """Add a number that is at least the last one."""
        if self._starts and position == self._starts[-1] + self._lengths[-1]:
            self._lengths[-1] += 1
        else:
            self._starts.append(position)
            self._lengths.append(1)

    def extend(self, positions: NDArray[np.int64]) -> None:
        """Add numbers, each at least the one before it."""
        if not len(positions):
            return
        starts = np.flatnonzero(np.concatenate(([True], np.diff(positions) != 1)))
        lengths = np.diff(np.append(starts, len(positions)))
        for start, length in zip(positions[starts].tolist(), lengths.tolist(), strict=True):
            self.append(start)
            self._lengths[-1] += length - 1

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers in order."""
        for start, length in zip(self._starts, self._lengths, strict=True):
            yield from range(start, start + length)
