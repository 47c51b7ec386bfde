"""Short digests that name recipes, installations and request bodies."""

from __future__ import annotations

import hashlib
from typing import Final

_CHARACTERS: Final = 12


def short_digest(data: bytes) -> str:
    """Return a digest of a few characters."""
    return hashlib.sha256(data).hexdigest()[:_CHARACTERS]
