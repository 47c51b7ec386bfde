"""The version of nel and the name of its distribution, each written once."""

from typing import Final

__version__ = "0.1.0"

DISTRIBUTION: Final = "nel-eval"
"""What pip calls it; the import package and the command are ``nel``."""
