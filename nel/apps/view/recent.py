"""A cache of the values that were asked for last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """Keeps a number of values; one is made at a time."""

    def __init__(self, n_max: int) -> None:
        self._n_max = n_max
        self._values: OrderedDict[object, T] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: object, make: Callable[[], T]) -> T:
        """Return the value of a key, made where it is not kept."""
        with self._lock:
            if key not in self._values:
                self._values[key] = make()
            self._values.move_to_end(key)
            while len(self._values) > self._n_max:
                self._values.popitem(last=False)
            return self._values[key]
