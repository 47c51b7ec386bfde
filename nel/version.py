"""The version of nel, written once."""

__version__ = "0.1.0"
