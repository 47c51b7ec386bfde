"""Reads results of other tools as runs: the importers of the group ``nel.importers``, and their
public types.
"""

from nel.artifacts.importing.contract import Imported, ImportedBenchmark, ImportedResult

__all__ = ["Imported", "ImportedBenchmark", "ImportedResult"]
