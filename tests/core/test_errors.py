"""The tree of errors at the top of `nel.errors` is the tree of its classes."""

from __future__ import annotations

import re
from itertools import takewhile

import nel.errors
from nel.errors import NelError

NODE = re.compile(r"^[ │├└─]*(?P<name>\w+) +(?P<code>\d+)?", re.MULTILINE)


def _drawing() -> str:
    assert nel.errors.__doc__
    block = nel.errors.__doc__.partition("::\n\n")[2].splitlines()
    return "\n".join(takewhile(str.strip, block))


def test_each_class_of_the_module_stands_once_under_its_parent_with_its_exit_code() -> None:
    """Each line names a class, indented under its parent; a class without a code has its parent's."""
    drawn: dict[str, tuple[str | None, int]] = {}
    above: list[tuple[int, str]] = []  # the classes that contain the line, outermost first
    for node in NODE.finditer(_drawing()):
        depth = node.start("name") - node.start()
        while above and above[-1][0] >= depth:
            above.pop()
        parent = above[-1][1] if above else None
        code = int(node["code"]) if node["code"] else drawn[str(parent)][1]
        assert node["name"] not in drawn
        drawn[node["name"]] = parent, code
        above.append((depth, node["name"]))
    classes = [
        member for member in vars(nel.errors).values() if isinstance(member, type) and issubclass(member, NelError)
    ]
    assert drawn == {
        error.__name__: (
            None if error is NelError else next(base.__name__ for base in error.__bases__),
            error.exit_code,
        )
        for error in classes
    }
