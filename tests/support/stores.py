"""run.db as a run leaves it, written at once and without a run: for tests of what is read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from nel.engine.store.codec import encode_sample, seal_text
from nel.engine.store.log import Log
from nel.engine.store.rows import Row
from nel.engine.store.snapshot import FILE_NAME, StoredSample
from nel.types import Sample

DIGEST = "ab" * 32


def stored_plan(name: str, n: int, **changes: Any) -> Any:
    """Return the plan of a benchmark of n samples."""
    plan = {
        "identity": {}, "digest": f"sha256:{DIGEST}", "repeats": 1, "max_problems": None, "fingerprint": None,
        "reducers": [], "metrics": [], "eval_only": False, "judge": None, "system_prompt": None, "truncated": "failure",
        "dataset": {"uri": "x", "revision": None, "sha256": DIGEST, "rows": n}, "generation": {}, "fewshot": None,
        "scorer": {"name": name, "sha256": DIGEST, "rule": None, "reading": {}}, "lower_is_better": [],
        "model": "m", "protocol": "chat",
    }  # fmt: skip
    return plan | changes


def write_run_db(
    run_dir: Path,
    slot: str,
    samples: Iterable[Sample],
    rows: Callable[[int], Iterable[Row]],
    *,
    plan: Any,
    config: Mapping[str, Any],
    run_id: str,
    ended: Mapping[str, Any] | None,
    started: float | None = None,
) -> Path:
    """Add a benchmark to the run.db of a directory, which is made where it is not there; return the directory.

    Args:
        run_dir: Of the run.
        slot: The benchmark's name.
        samples: In the order of the dataset.
        rows: From the benchmark's key to what was asked, answered and scored.
        plan: As `stored_plan` makes it.
        config: As far as it is read.
        run_id: Of the run.
        ended: What the session says at its end; None for one that goes on or was killed.
        started: When it began, in seconds since 1970; now without it.
    """
    run_dir.mkdir(parents=True, exist_ok=True)
    store = Log(run_dir / FILE_NAME)
    with store.transaction():
        store.set_meta("run_id", run_id)
        store.set_meta("config", dict(config))
        key = store.put_benchmark(slot, slot, plan)
        store.samples_of(key).add(
            StoredSample(idx, sample.id, idx + 1, seal_text(encode_sample(sample)), None)
            for idx, sample in enumerate(samples)
        )
        store.begin_session(started=started)
        for row in rows(key):
            store.append_at_once([row])
        if ended is not None:
            store.end_session(**{"retries": 0, **ended})
    store.close()
    return run_dir
