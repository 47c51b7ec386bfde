"""Hands results to other tools: the exporters of the group ``nel.exporters``, and what is public
for plugins.
"""

from nel.artifacts.exporting.contract import Exported

__all__ = ["Exported"]
