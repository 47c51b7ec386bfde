"""Imports results of other tools, through the plugin group ``nel.importers``, as run directories.

The directory gets its final name when it is complete. An imported run cannot be resumed or scored
again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from nel import plugins
from nel.artifacts.importing.contract import ImportedBenchmark, ImportedResult, ImportedRun
from nel.artifacts.plugin_output import call_plugin, new_directory
from nel.artifacts.source_numbers import NUMBERS_ARE_IDS
from nel.artifacts.write import write_artifacts
from nel.core.reward_keys import OF_ANY_REWARD
from nel.core.strict_json import dumps
from nel.engine.store.codec import encode_outcome, encode_sample, seal_text
from nel.engine.store.log import Log
from nel.engine.store.plans import StoredPlan
from nel.engine.store.rows import answer_row, verdict_row
from nel.engine.store.snapshot import FILE_NAME, StoredSample
from nel.errors import NelError, OutputError, PluginError, UsageError
from nel.types import SampleKey, Unscored

IMPORTED: Final = "imported"
_BATCH: Final = 1_000
"""Results between two waits for the disk."""


def import_results(
    source: Path, output: Path, *, name: str | None = None, shared: bool = False
) -> ImportedRun:
    """Write a run directory of another tool's results and return what was found.

    Args:
        source: A file or directory of the other tool; it is only read.
        output: A directory that does not exist.
        name: Of the importer, ``name`` or ``package:name``; None tries each that is installed.
        shared: Let everyone on this machine read the run, also after ``nel report``.

    Raises:
        PluginError: There is no such importer, or it raised.
        UsageError: The output exists, or no importer knows the source.
        OutputError: The source is damaged, or the output cannot be made.
    """
    if not source.exists():
        raise UsageError(f"there is no {source}; give a file or a directory of results")
    if os.path.lexists(output):
        raise UsageError(f"{output} exists; choose another directory with -o, or remove it")
    imported = _read_source(source, name)
    with new_directory(output, shared=shared) as work:
        asyncio.run(_write(work, output.name, imported, shared=shared))
        write_artifacts(work)
    return imported


def _read_source(source: Path, name: str | None) -> ImportedRun:
    refs = plugins.discover("importers") if name is None else [plugins.find("importers", name)]
    for ref in refs:
        importer, what = plugins.load_ref(ref), f'the importer "{ref.name}" of {ref.provider}'
        imported = call_plugin(what, importer, source)
        if imported is not None and not isinstance(imported, ImportedRun):
            raise PluginError(
                f"{what} returned {imported!r}, not a nel.artifacts.importing.ImportedRun"
            )
        if imported is not None and imported.benchmarks:
            return imported
    format_names = ", ".join(ref.name for ref in refs)
    raise UsageError(f"{source} holds no results that can be imported; tried: {format_names}")


async def _write(work: Path, run_id: str, imported: ImportedRun, *, shared: bool) -> None:
    store = Log(work / FILE_NAME)
    try:
        slots = list(_slots(imported))
        config: dict[str, Any] = {"benchmarks": [{"name": slot} for slot, _ in slots]}
        if shared:
            config["output"] = {"share_permissions": True}
        store.set_meta("config", config)
        store.set_meta("run_id", run_id)
        store.set_meta(IMPORTED, {"format": imported.format, "notes": list(imported.notes)})
        times = [source.started for source in imported.benchmarks if source.started is not None]
        store.begin_session(started=times[0] if times else None)
        store.start_writer()
        try:
            for slot, benchmark in slots:
                await _write_benchmark(store, slot, benchmark, imported)
        finally:
            await store.stop_writer()
        elapsed = sum(source.elapsed_seconds or 0 for source in imported.benchmarks)
        store.end_session(elapsed=elapsed, ended="done", attempts=0, retries=0)
    finally:
        store.close()


def _slots(imported: ImportedRun) -> Iterator[tuple[str, ImportedBenchmark]]:
    """Yield each benchmark with a unique name: the second of one name gets ``@2``."""
    n_by_name: dict[str, int] = {}
    for benchmark in imported.benchmarks:
        if not benchmark.name.isprintable():
            raise OutputError(
                f"the source names a benchmark {benchmark.name!r}, which is not text; import an undamaged"
                " copy"
            )
        n = n_by_name[benchmark.name] = n_by_name.get(benchmark.name, 0) + 1
        yield benchmark.name if n == 1 else f"{benchmark.name}@{n}", benchmark


async def _write_benchmark(
    store: Log, slot: str, benchmark: ImportedBenchmark, imported: ImportedRun
) -> None:
    """Write questions in the order of the source, then answers; a missing one becomes unscored."""
    # The source is read twice, first for its questions, then for its answers, so that neither has
    # to be in memory. Its questions are numbered as they occur; `places` has the number of each id.
    key = store.put_benchmark(slot, benchmark.name, {})
    places: dict[str, int] = {}
    repeats = 1

    def samples() -> Iterator[StoredSample]:
        nonlocal repeats
        for result in _read(benchmark):
            repeats = max(repeats, result.repeat + 1)
            if result.sample.id not in places:
                idx = places[result.sample.id] = len(places)
                yield StoredSample(
                    idx, result.sample.id, idx + 1, seal_text(encode_sample(result.sample)), None
                )

    with store.transaction():
        store.samples_of(key).add(samples())
    if not places:
        raise OutputError(f"{slot} has no sample in the source; nothing can be imported")
    store.put_benchmark(
        slot, benchmark.name, _plan(benchmark, imported, n=len(places), repeats=repeats)
    )
    repeats_done = await _write_results(store, key, benchmark, places)
    unscored = Unscored(
        cause="infra",
        kind="not_recorded",
        detail="the source has no result of this sample and repeat",
    )
    absent_slots = []
    for idx, repeat_bits in enumerate(repeats_done):
        absent_slots += [
            (idx, repeat) for repeat in range(repeats) if not repeat_bits >> repeat & 1
        ]
    row = encode_outcome(unscored)
    rows = [verdict_row(SampleKey(key, idx, repeat), row) for idx, repeat in absent_slots]
    if rows:
        await store.append(rows)


def _read(benchmark: ImportedBenchmark) -> Iterator[ImportedResult]:
    """Yield the results.

    Raises:
        OutputError: One of them is not of the form that the importer expects; with its number.
    """
    n_read = 0
    try:
        for result in benchmark.results():
            n_read += 1
            yield result
    except NelError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise OutputError(
            f"{benchmark.name}, result {n_read + 1} of the source, is not of the form that it"
            f" should have ({type(error).__name__}: {error}); give an undamaged copy"
        ) from error


async def _write_results(
    store: Log, key: int, benchmark: ImportedBenchmark, places: dict[str, int]
) -> list[int]:
    # Of each question, a whole number whose bit r says that repeat r has a result.
    repeats_done = [0] * len(places)
    waiting: list[asyncio.Future[None]] = []
    for result in _read(benchmark):
        idx, bit = places[result.sample.id], 1 << result.repeat
        if repeats_done[idx] & bit:
            raise OutputError(
                f"{benchmark.name} has two results of the sample {result.sample.id!r}, repeat"
                f" {result.repeat}; import a file with one"
            )
        repeats_done[idx] |= bit
        sample_key = SampleKey(key, idx, result.repeat)
        rows = [verdict_row(sample_key, encode_outcome(result.outcome))]
        if result.response is not None:
            rows.insert(0, answer_row(sample_key, None, result.response))
        waiting.append(store.append(rows))
        if len(waiting) >= _BATCH:
            await asyncio.gather(*waiting)
            waiting.clear()
    await asyncio.gather(*waiting)
    return repeats_done


def _plan(
    benchmark: ImportedBenchmark, imported: ImportedRun, *, n: int, repeats: int
) -> StoredPlan:
    identity: dict[str, Any] = {"benchmark": benchmark.name, "imported.format": imported.format}
    identity |= {f"generation.{name}": setting for name, setting in benchmark.generation.items()}
    if benchmark.numbers_are_ids:
        identity[NUMBERS_ARE_IDS] = True
    if benchmark.scorer_version is not None:
        identity["scorer.version"] = benchmark.scorer_version
    if benchmark.n_fewshot is not None:
        identity["num_fewshot"] = benchmark.n_fewshot
    notes = list(imported.notes)
    if not benchmark.is_complete:
        notes.append("the source says that its run did not end")
    for name, value in sorted(benchmark.scores.items()):
        notes.append(f"{name} is {value:.6g} in the source")
    return {
        "identity": identity,
        "digest": f"sha256:{sha256(dumps(identity).encode()).hexdigest()}",
        "repeats": repeats,
        "max_problems": None,
        "fingerprint": None,
        "reducers": [],
        "metrics": [],
        "eval_only": True,
        "dataset": {
            "uri": benchmark.dataset or "unknown",
            "revision": None,
            "sha256": "",
            "rows": n,
        },
        "scorer": {
            "name": benchmark.scorer or "unknown",
            "sha256": benchmark.scorer_version or "",
            "rule": None,
            "reading": {},
        },
        "lower_is_better": _lower_is_better(benchmark),
        "judge": None,
        "system_prompt": None,
        "truncated": "failure",
        "model": benchmark.model,
        "protocol": None,
        "generation": dict(benchmark.generation),
        "fewshot": _fewshot(benchmark.n_fewshot),
        "imported": {
            "format": imported.format,
            "complete": benchmark.is_complete,
            "notes": [f"imported from {imported.format}: {note}" for note in notes],
            "started": benchmark.started,
            "elapsed": benchmark.elapsed_seconds,
        },
    }


def _lower_is_better(benchmark: ImportedBenchmark) -> list[str]:
    names = list(benchmark.lower_is_better)
    # The headline of results that name no number of theirs is called by its kind alone.
    return [*names, *OF_ANY_REWARD] if benchmark.scorer in names else names


def _fewshot(n: int | None) -> dict[str, Any] | None:
    """Return how many examples each prompt has; no tool records where they come from."""
    return {"n": n, "sampler": None, "seed": None, "source": None} if n else None
