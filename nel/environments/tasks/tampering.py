"""Which changes of an agent's container can decide what tests find: replaced programs and libraries,
and files that interpreters and linkers load unasked. Pure, of the paths that the engine lists.

A change is flagged and no proof: an agent that upgrades a package is flagged as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from nel.environments.session import Change

_LOADED: Final = re.compile(
    r"""
      /etc/(?: ld\.so\.\S+ | profile(?:\.d/\S+)? | bash\.bashrc | environment )
    | \S*/(?: sitecustomize | usercustomize | conftest )\.py
    | \S*/(?: site | dist )-packages/[^/\s]+\.pth
    """,
    re.VERBOSE,
)
"""What is loaded unasked, changed or added."""
_REPLACED: Final = re.compile(
    r"(?:/usr(?:/local)?)?/(?:bin|sbin|lib|lib32|lib64|libexec)/.*|/opt/.*/(?:bin|lib)/.*"
)
"""Programs, libraries and packages: one of the image's own that is changed or removed."""
_ADDED: Final = re.compile(r"(?:/usr(?:/local)?)?/s?bin/(?P<name>[^/]+)")
"""Programs on the usual path: a new one can stand before one of the image's."""
_USED_BY_TESTS: Final = re.compile(
    r"""
      (?: ba | da | z )? sh | python[\d.]* | pip[\d.]* | pytest | node | npm | ruby | perl | java | go
    | cargo | gcc | cc | make | uv | uvx | curl | git | env | cat | cmp | diff | echo | grep | sed | awk | test | true
    | \[ | sha\d+sum | md5sum | sort | head | tail | wc | ls | stat | timeout | apt-get
    """,
    re.VERBOSE,
)
_OF_ENGINE: Final = frozenset({"/usr/sbin/docker-init", "/sbin/docker-init"})


def suspicious_paths(changes: Sequence[Change]) -> list[str]:
    """Return the changed paths that tests may depend on unseen, sorted.

    Args:
        changes: Of a container, against its image.
    """
    folders = set(_parents(change.path for change in changes))
    return sorted(
        change.path
        for change in changes
        if change.path not in folders and change.path not in _OF_ENGINE and _decides(change)
    )


def _decides(change: Change) -> bool:
    if _LOADED.fullmatch(change.path):
        return True
    if change.kind != "added":
        return _REPLACED.fullmatch(change.path) is not None
    program = _ADDED.fullmatch(change.path)
    return program is not None and _USED_BY_TESTS.fullmatch(program["name"]) is not None


def _parents(paths: Iterable[str]) -> Iterable[str]:
    """Return the folders of paths, which the engine lists as changed as well."""
    return (path.rpartition("/")[0] for path in paths)
