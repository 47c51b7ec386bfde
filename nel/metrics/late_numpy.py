"""numpy, imported when it is first used: that takes longer than the rest of a start."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Late:
        """Stands for the module, and keeps each name that was asked for."""

        def __getattr__(self, name: str) -> object:
            value = getattr(importlib.import_module("numpy"), name)
            setattr(self, name, value)
            return value

    np = _Late()
