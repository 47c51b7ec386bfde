"""Reads results of other tools as runs: the importers of ``nel.importers``, and public types."""

from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun

__all__ = ["ImportedBenchmark", "ImportedResult", "ImportedRun"]
