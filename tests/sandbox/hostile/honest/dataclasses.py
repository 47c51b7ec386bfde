# what: uses dataclasses, with annotations as text, and type hints looked up in its module
# problem: double
# verdict: passed
from __future__ import annotations

import typing
from dataclasses import dataclass, field


@dataclass(order=True, frozen=True)
class Pair:
    one: int
    two: int = 0
    rest: list[Pair] = field(default_factory=list, compare=False)

    def sum(self) -> int:
        return self.one + self.two


assert typing.get_type_hints(Pair)["rest"] == list[Pair]


def double(x: int) -> int:
    return Pair(x, x).sum()
