"""The suite's sub-scores and total against the code of BFCL's own leaderboard, on made score folders."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("bfcl_eval")

from nel_bfcl.suite import BFCL_V4

from nel.artifacts.aggregates import Member, aggregates_json
from nel.authoring.suites import group_of
from nel.metrics.accumulator import Accumulator
from nel.types import Scored

SIZES = {
    "simple_python": 400, "simple_java": 100, "simple_javascript": 50, "multiple": 200, "parallel": 200,
    "parallel_multiple": 200, "irrelevance": 240, "live_simple": 258, "live_multiple": 1053, "live_parallel": 16,
    "live_parallel_multiple": 24, "live_irrelevance": 884, "live_relevance": 16, "multi_turn_base": 200,
    "multi_turn_miss_func": 200, "multi_turn_miss_param": 200, "multi_turn_long_context": 200, "memory_kv": 155,
    "memory_vector": 155, "memory_rec_sum": 155, "web_search_base": 100, "web_search_no_snippet": 100,
}  # fmt: skip
COLUMNS = {  # of the leaderboard's table of everything, and of that of the agentic categories
    "bfcl-v4": ("Overall Acc", "overall"),
    "bfcl-v4/non-live": ("Non-Live AST Acc", "overall"),
    "bfcl-v4/non-live/simple": ("Non-Live Simple AST", "overall"),
    "bfcl-v4/live": ("Live Acc", "overall"),
    "bfcl-v4/irrelevance": ("Irrelevance Detection", "overall"),
    "bfcl-v4/multi-turn": ("Multi Turn Acc", "overall"),
    "bfcl-v4/agentic": ("Agentic Overall Acc", "agentic"),
    "bfcl-v4/agentic/web-search": ("Web Search Acc", "overall"),
    "bfcl-v4/agentic/memory": ("Memory Acc", "overall"),
}
NAME = "made"


@pytest.fixture(scope="module")
def leaderboard(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[dict[str, int]], dict[str, Any]]]:
    """Return what the leaderboard's code makes of a folder of scores, before it rounds them."""
    models: Any = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {
        NAME: SimpleNamespace(
            display_name=NAME, url="", org="", license="", input_price=None, output_price=None
        )
    }
    patch = pytest.MonkeyPatch()
    patch.setitem(sys.modules, models.__name__, models)
    patch.setenv("BFCL_PROJECT_ROOT", str(tmp_path_factory.mktemp("project")))
    from bfcl_eval.eval_checker import eval_runner_helper as helper  # noqa: PLC0415 - with the table above

    # Another test may have imported it with BFCL's own table.
    patch.setattr(helper, "MODEL_CONFIG_MAPPING", models.MODEL_CONFIG_MAPPING)

    def table_of(right: dict[str, int]) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("scores")
        for category, n in right.items():
            directory = folder / NAME / category
            directory.mkdir(parents=True)
            header = {
                "accuracy": n / SIZES[category],
                "correct_count": n,
                "total_count": SIZES[category],
            }
            (directory / f"BFCL_v4_{category}_score.json").write_text(json.dumps(header) + "\n")
        tables: dict[str, dict[str, Any]] = {}

        def keep(data: Any, file_path: Path, header: list[str], **_: Any) -> None:
            kind = file_path.stem.removeprefix("data_")
            tables[kind] = dict(zip(header, data[0], strict=True))

        patch.setattr(helper, "write_score_csv_file", keep)
        entries: dict[str, Any] = {}
        helper.update_leaderboard_table_with_local_score_file(entries, folder)
        helper.generate_leaderboard_csv(entries, folder)
        return {name: tables[kind][column] for name, (column, kind) in COLUMNS.items()}

    yield table_of
    patch.undo()


def _complete(suite: Any) -> Any:
    """Return the suite as it is where nothing of it is missing."""
    if isinstance(suite, dict):
        return {key: _complete(value) for key, value in suite.items() if key != "missing"}
    return [_complete(value) for value in suite] if isinstance(suite, list) else suite


def _member(category: str, right: int) -> Member:
    total = Accumulator()
    for number in range(SIZES[category]):
        score = float(number < right)
        total.add(number, Scored(reward=score, metrics={"correct": score}))
    return Member(
        slot=category,
        size=SIZES[category],
        headline="accuracy",
        rows=total.metrics(),
        accounting=total.accounting.as_json(),
        is_complete=True,
        total=total,
    )


def _means(suite: Any, right: dict[str, int]) -> dict[str, Any]:
    group = group_of(deepcopy(suite), "suite:bfcl-v4")
    names = {category: f"bfcl_{category}" for category in right}
    names |= {name: f"bfcl_{name}_official" for name in ("irrelevance", "live_irrelevance")}
    members = {names[category]: _member(category, n) for category, n in right.items()}
    return {row["aggregate"]: row for row in aggregates_json(group.aggregates, members)}


@pytest.mark.parametrize("seed", range(20))
def test_sub_scores_and_total_are_those_of_the_leaderboard(
    leaderboard: Callable[[dict[str, int]], dict[str, Any]], seed: int
) -> None:
    """With all categories each mean is the leaderboard's; without those that are missing here, which it counts as 0, its
    total is the lower bound.
    """
    rng = random.Random(seed)  # noqa: S311
    right = {category: rng.randint(0, n) for category, n in SIZES.items()}
    theirs, ours = leaderboard(right), _means(_complete(BFCL_V4), right)
    assert {name: row["value"] for name, row in ours.items()} == pytest.approx(theirs, abs=1e-12)
    assert ours["bfcl-v4"]["ci_lower"] < ours["bfcl-v4"]["value"] < ours["bfcl-v4"]["ci_upper"]
    fewer = {name: n for name, n in right.items() if not name.startswith(("web_", "memory_vector"))}
    total, whole = leaderboard(fewer)["bfcl-v4"], _means(BFCL_V4, fewer)["bfcl-v4"]
    assert (whole["value"], len(whole["missing"])) == (None, 3)
    missing = 0.4 * (1 / 2 + 1 / 2 / 3)
    assert whole["bounds"] == pytest.approx({"lower": total, "upper": total + missing})
