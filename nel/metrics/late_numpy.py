"""numpy, imported when a number first needs it.

For modules that every run imports, since a run whose answers are each right or wrong needs none of
numpy; others import it themselves. docs/explanation/libraries.md has what a start takes with it.
"""

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
