# what: a script that begins with an import from the future and a docstring
# mode: outside
# problem: echo
# verdict: passed
"""Add numbers."""

from __future__ import annotations

n = int(input())
print(sum(map(int, input().split())))
