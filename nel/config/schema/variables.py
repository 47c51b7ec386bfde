"""Checks of fields that name a variable with a secret."""

from __future__ import annotations

import re
from typing import Final

ENV_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an environment variable."""


def variable_name(name: str | None, *, field: str, secret: str) -> str | None:
    """Return the name of an environment variable; None stays None.

    Args:
        name: As the configuration has it.
        field: The key there.
        secret: What the variable holds, which is not a name of one.

    Raises:
        ValueError: It is not a name of a variable.
    """
    if name is not None and not ENV_NAME.fullmatch(name):
        raise ValueError(
            f"{field} is not the name of an environment variable; give the name, not {secret}"
        )
    return name
