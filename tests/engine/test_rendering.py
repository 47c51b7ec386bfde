"""Rows that processes render make the samples that one process makes, in the same order and with the same errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.benchmarks.mathematics.gsm8k import gsm8k, with_gold_number
from nel.config.schema import BenchmarkConfig, EndpointConfig, RunConfig
from nel.engine.planning import rendering
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_samples import Digests, stream_samples
from nel.engine.planning.rendering import depends_on_the_row_alone
from nel.engine.planning.resolution import make_plans
from nel.engine.store.snapshot import StoredSample
from nel.errors import DatasetError
from nel.prompts import compile_template

GOOD = [{"question": f"{number}?", "answer": f"#### {number}"} for number in range(12)]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render small datasets in processes: from the third row on, two rows at once."""
    monkeypatch.setattr(rendering, "ROWS_ALONE", 2)
    monkeypatch.setattr(rendering, "_ROWS_AT_ONCE", 2)


def _plan(tmp_path: Path, lines: Iterable[object]) -> Plan:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))
    config = RunConfig(
        benchmarks=[BenchmarkConfig(name="gsm8k", dataset=str(path))],
        endpoint=EndpointConfig(url="http://127.0.0.1:1/v1", model="m"),
    )
    return make_plans(config)[0]


def _streamed(plan: Plan, processes: int) -> tuple[list[StoredSample], dict[str, Any], str | None]:
    """Return the samples, the digests, and what ended the stream early."""
    digests, found, seen = Digests(), [], dict[str, int]()
    error = None
    try:
        for sample in stream_samples(plan, digests, seen.get, processes=processes):
            seen[sample.sample_id] = sample.row_number
            found.append(sample)
    except DatasetError as raised:
        error = str(raised)
    return found, {**digests.fields(), "rows": digests.rows, "good": digests.good, "first": digests.first_fault}, error


@pytest.mark.parametrize(
    "lines",
    [
        GOOD,
        [*GOOD[:5], {"question": "no gold", "answer": "none"}, *GOOD[5:], {"question": "\u00e9", "answer": "####  x"}],
        [*GOOD, *GOOD[3:6], *GOOD],
        [*GOOD[:8], {"id": None, **GOOD[8]}, *GOOD[9:]],
        [*GOOD[:7], "{", *GOOD[7:]],
    ],
    ids=["good", "unusable", "repeated", "an id that is none", "no JSON"],
)
def test_processes_change_nothing(tmp_path: Path, lines: list[object]) -> None:
    """Samples, ids of repeated rows, faults, digests, and what is said of a row that cannot be read, after how many."""
    plan = _plan(tmp_path, lines)
    assert _streamed(plan, 2) == _streamed(plan, 1)


def _numbered(row: dict[str, Any]) -> dict[str, Any]:
    return row


@pytest.mark.parametrize(
    ("changes", "alone"),
    [
        ({}, True),
        ({"prepare_row": None}, True),
        ({"prepare_row": _numbered}, False),
        ({"images_field": "image"}, False),
        ({"system_prompt": compile_template("Be brief.", name="system_prompt")}, True),
        ({"system_prompt": compile_template("{% if x %}{% endif %}", name="system_prompt")}, False),
    ],
)
def test_code_of_others_renders_in_order(changes: dict[str, Any], alone: bool) -> None:
    """It may draw numbers or count rows, and would make other samples in another process."""
    assert gsm8k.prepare_row is with_gold_number
    assert depends_on_the_row_alone(replace(gsm8k, **changes)) is alone


ALONE = """
import sys
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.datasets import RawRow
from nel.engine.planning.rendering import rendered_ahead
rows = [RawRow(number=number, data={"question": "?"}) for number in range(2)]
assert [made for _, made in rendered_ahead(gsm8k, iter(rows), processes=2)] == [None, None]
assert "multiprocessing" not in sys.modules
"""


def test_a_small_dataset_needs_no_process() -> None:
    """Where no row is left after those that are rendered here, nothing is prepared for processes."""
    subprocess.run([sys.executable, "-c", ALONE], check=True, timeout=60)
