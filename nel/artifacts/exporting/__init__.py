"""Hands results to other tools: the exporters of ``nel.exporters``, and the names for plugins."""

from nel.artifacts.exporting.contract import Exported

__all__ = ["Exported"]
