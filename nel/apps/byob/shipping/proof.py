"""Shows that a package gives the samples its file gave, by reading both in separate processes.

Only local rows are compared; a dataset of a hub is not downloaded for it.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Final

from nel.apps.byob.shipping.package import Package
from nel.apps.byob.shipping.source import SourceFile
from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.datasets import open_dataset
from nel.errors import NelError, PluginError

_ROWS: Final = 3
_SECONDS: Final = 120
_REMOTE: Final = ("hf://", "ms://", "http://", "https://")
# Run with ``-c`` Python looks for modules in the current directory first, by an empty entry of
# sys.path; there the package would find what only its file may read.
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path[:] = [p for p in sys.path if p]\n"
    "from nel.apps.byob.shipping.proof import print_samples; print_samples(sys.argv[2:])"
)


def prove(package: Package, source: SourceFile) -> None:
    """Import a package from a folder of its own, and compare its first samples with its file's.

    Raises:
        PluginError: It cannot be imported, or its samples are others.
    """
    with tempfile.TemporaryDirectory(prefix="nel-byob-") as folder:
        for name, data in package.files.items():
            path = Path(folder, "package", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        root = str(Path(folder, "package"))
        command = [sys.executable, "-c", _PROGRAM, root, *package.entry_points.values()]
        try:
            process = subprocess.run(  # noqa: S603
                command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise PluginError(
                f"the package of {package.source} could not be imported in {_SECONDS} s"
            ) from error
    if process.returncode:
        message = (process.stderr.strip().splitlines() or ["no message"])[-1]
        raise PluginError(
            f"{package.source} works as a file and not as a package: {message}; a package has only"
            " that file and what its text names by relative paths"
        )
    # The file's own code may print too; what is ours is the last line.
    digests: dict[str, str] = json.loads(process.stdout.splitlines()[-1])
    for name, target in package.entry_points.items():
        if digests[target] != samples_digest(source.benchmarks[name]):
            raise PluginError(
                f'the benchmark "{name}" has other samples as a package than as a file; see that'
                f" {package.source} depends on nothing but its rows"
            )


def samples_digest(benchmark: Benchmark) -> str:
    """Return a digest of the first samples of a benchmark; empty where its rows are on a hub."""
    if isinstance(benchmark.dataset, str) and benchmark.dataset.startswith(_REMOTE):
        return ""
    samples: list[str] = []
    try:
        rows = open_dataset(benchmark.dataset, base_dir=benchmark.base_dir).read()
        benchmark, _ = bind_examples(benchmark)
        for row in islice(rows, _ROWS):
            sample = benchmark.sample(row.data, sample_id=str(row.number))
            samples.append(repr((sample.input, sample.target, sample.choices, sample.turns)))
    except NelError as error:
        samples.append(type(error).__name__)
    return hashlib.sha256("\n".join(samples).encode("utf-8", "backslashreplace")).hexdigest()


def print_samples(targets: list[str]) -> None:
    """Print a digest for each ``module:attribute``, as JSON; what a proof runs in its process."""
    digests = {}
    for target in targets:
        module, _, attribute = target.partition(":")
        digests[target] = samples_digest(getattr(import_module(module), attribute))
    sys.stdout.write(f"\n{json.dumps(digests)}\n")
