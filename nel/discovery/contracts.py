"""The functions that entry points name, as protocols: what nel calls them with, and what they return.

`nel.discovery.extension_points` says when and where each is called.
"""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.importing.contract import ImportedRun
from nel.authoring.benchmark import Benchmark
from nel.authoring.benchmark_group import BenchmarkGroup
from nel.core.observer import Observer
from nel.datasets.base import Dataset
from nel.engine.executors.base import Executor
from nel.episodes import Episode
from nel.metrics.decorators import Metric, ScoreReducer
from nel.types import Sample, ScorerInput, ScorerResult


class Bridge(Protocol):
    """Makes a benchmark of another tool's task."""

    def __call__(self, uri: str, /) -> Benchmark | BenchmarkGroup:
        """Return the benchmark, the registered adapter class or the `nel.BenchmarkGroup` that an
        address names.
        """


class ScorerFunction(Protocol):
    """Scores one response."""

    def __call__(self, sample: ScorerInput, /) -> ScorerResult:
        """Return a `nel.Score`, a mapping of numbers, a bool, a number, or an awaitable of one."""


class MetricFactory(Protocol):
    """Builds a metric over all samples of a benchmark."""

    def __call__(self, **options: object) -> Metric:
        """Return a function from a sequence of `nel.scorers.SampleScore` to one or more numbers."""


class ReducerFactory(Protocol):
    """Builds a reducer of one sample's repeats."""

    def __call__(self, **options: object) -> ScoreReducer:
        """Return a function of a sequence of `nel.Score` that returns one `nel.Score`."""


class DatasetReader(Protocol):
    """Opens the datasets of a URI scheme."""

    def __call__(self, uri: str, base_dir: Path | None, /) -> Dataset:
        """Return the dataset, whose rows are read later. Relative paths start at base_dir."""


class ReportWriter(Protocol):
    """Writes a report of a finished run."""

    def __call__(self, run_dir: Path, /) -> Path:
        """Return the path of the file that it made of the run's artifacts, in their directory."""


class Exporter(Protocol):
    """Writes the results of a run in the format of another tool."""

    def __call__(self, run_dir: Path, output: Path, /) -> Exported:
        """Return the files that it wrote below output, an empty directory; run_dir is only read."""


class Importer(Protocol):
    """Reads the results of another tool."""

    def __call__(self, source: Path, /) -> ImportedRun | None:
        """Return what the file or directory holds; None where it is not of this format."""


class ExecutorFactory(Protocol):
    """Builds what computes the scores of a run."""

    def __call__(self, **options: object) -> Executor:
        """Return a `nel.engine.executors.Executor`; nothing is started before its `start`."""


class ObserverFactory(Protocol):
    """Builds what sees the events of a run."""

    def __call__(self, run_dir: Path, /, **options: object) -> Observer:
        """Return a `nel.Observer`, whose methods are called with the events of one session."""


class SolverFunction(Protocol):
    """Drives an episode."""

    def __call__(
        self, sample: Sample, episode: Episode, /, **options: object
    ) -> Awaitable[str | None]:
        """Return the final answer; None stands for the last text of the model."""


class CommandFunction(Protocol):
    """A command of the command line."""

    def __call__(self, *arguments: object, **options: object) -> None:
        """Run the command; what it prints on stdout is its answer."""
