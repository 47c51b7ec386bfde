"""Errors that tools which decide from evaluation results have made; none of them is possible here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nel.decide import mcnemar_exact
from nel.metrics.accumulator import Accumulator
from nel.reports.comparison import p_text
from nel.types import Scored
from tests.comparison.conftest import compared
from tests.support.compared import line, lines, write_run

N = 2000
BASE = [float(one) for one in np.random.default_rng(1).random(N) < 0.6]
FAR_WORSE = [0.0 if idx % 15 < 7 else reward for idx, reward in enumerate(BASE)]
"""28 points below."""


def _sides(tmp_path: Path, after: list[Any], **given: Any) -> tuple[Path, Path]:
    return write_run(tmp_path / "a", lines(BASE)), write_run(tmp_path / "b", lines(after), **given)


def _headline(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["candidates"][0]["benchmarks"][0]["headline"]
    return found


def test_the_order_of_ids_decides_nothing(tmp_path: Path) -> None:
    """All samples decide at once: ids that sort by category, or the other way around, give the same numbers."""
    found = []
    for name in ("{:05}", "{:05}x"):
        order = [idx if name.endswith("}") else N - idx for idx in range(N)]
        rows = [
            [line(idx, one, sample_id=name.format(order[idx])) for idx, one in enumerate(scores)]
            for scores in (BASE, FAR_WORSE)
        ]
        place = tmp_path / str(len(found))
        found.append(_headline(compared(write_run(place / "a", rows[0]), write_run(place / "b", rows[1]))))
    assert found[0] == found[1]


def test_the_smallest_effect_is_in_the_unit_of_the_score(tmp_path: Path) -> None:
    """With 2,000 pairs and a tenth discordant, two points can be seen; 0.28 over the discordant alone would be said."""
    flipped = [1 - reward if idx % 10 == 0 else reward for idx, reward in enumerate(BASE)]
    found = _headline(compared(*_sides(tmp_path, flipped)))["difference"]
    assert found["smallest_detectable"] == pytest.approx(2.8 * (0.1 / N) ** 0.5, rel=0.02)


def test_a_tiny_p_value_is_never_zero(tmp_path: Path) -> None:
    """It is computed in logarithms and not rounded to a fixed number of places."""
    found = _headline(compared(*_sides(tmp_path, FAR_WORSE)))["difference"]
    assert 0 < found["p_value"] < 1e-100


def test_a_p_value_below_all_floats_is_not_shown_as_zero() -> None:
    """2,000 losses and no win have a p-value of 2 to the power of -1999, which no float holds."""
    assert (mcnemar_exact(0, 2000), p_text(mcnemar_exact(0, 2000))) == (0.0, "below 1e-300")


def test_few_clusters_use_their_own_degrees_of_freedom(tmp_path: Path) -> None:
    """Fourteen clusters: the interval is that of t with 13 degrees of freedom and CR1 errors, wider than that of z."""
    noise = np.random.default_rng(2).random(N)
    after = [1 - one if chance < 0.05 else one for one, chance in zip(BASE, noise, strict=True)]
    rows = [lines(scores) for scores in (BASE, after)]
    for side in rows:
        for row in side:
            row["group"] = f"g{row['problem_idx'] % 14}"
    found = _headline(compared(write_run(tmp_path / "c", rows[0]), write_run(tmp_path / "d", rows[1])))["difference"]
    differences = np.array(after) - np.array(BASE)
    sums = np.array([(differences - differences.mean())[place::14].sum() for place in range(14)])
    stderr = float(np.sqrt(14 / 13 * (sums**2).sum()) / N)
    assert found["ci_method"] == "t_cluster"
    assert found["ci_upper"] - found["ci_lower"] == pytest.approx(2 * 2.1603686564610127 * stderr, rel=1e-9)


@pytest.mark.slow
def test_a_million_pairs_need_bounded_memory(tmp_path: Path) -> None:
    """Two runs of a million samples are compared in far less memory than their files have bytes."""
    for name, scores in (("a", BASE), ("b", FAR_WORSE)):
        counted = Accumulator()
        for idx in range(1_000_000):
            counted.add(idx, Scored(reward=float(scores[idx % N]), metrics={"correct": float(scores[idx % N])}))
        path = write_run(tmp_path / name, [], counted=counted) / "quiz" / "results.jsonl"
        forms = [json.dumps(line(777, float(score), category="c1")).replace("777", "%d") for score in (0, 1)]
        with path.open("w") as file:
            for idx in range(1_000_000):
                form = forms[int(scores[idx % N])]
                file.write(form % ((idx,) * form.count("%d")) + "\n")
    program = (
        "import resource, sys; from pathlib import Path; from tests.comparison.conftest import compared;"
        "found = compared(Path(sys.argv[1]), Path(sys.argv[2]), flips=10);"
        "print(found['candidates'][0]['benchmarks'][0]['headline']['verdict'],"
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a"), str(tmp_path / "b")]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    verdict, kibibytes = done.stdout.split()
    assert verdict == "worse"
    assert int(kibibytes) < 900 * 1024
