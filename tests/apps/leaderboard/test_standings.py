"""The numbers of a leaderboard, their schema, and what its pages say of them."""

from __future__ import annotations

import copy
import json
import math
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from nel.apps.leaderboard.pages import (
    alpaca_eval_lines,
    banners,
    counts_table,
    html_page,
    matrix_table,
    ranked_table,
    write_html,
)
from nel.apps.leaderboard.pair_results import PairResult, PairResults, orders_of
from nel.apps.leaderboard.pairwise import length_difference
from nel.artifacts.schema import load_schema
from tests.support.boards import board_of, judged_by, small
from tests.support.schemas import check_schema

EVIL = "<script>alert(1)</script>\x1b[31m|*`"


def arena(*, n: int = 120, seed: int = 2) -> PairResults:
    """Return three models of known strength whose judge likes length; the weakest one writes the most."""
    rng = np.random.default_rng(seed)
    strength = {"strong": 0.5, "middle": 0.0, "wordy": -0.5}
    size = {"strong": 300, "middle": 500, "wordy": 2000}
    judged = []
    for question in range(n):
        for left, right in combinations(strength, 2):
            x = length_difference(*(int(size[name] * rng.uniform(0.2, 1.8)) for name in (left, right)))
            chance = 1 / (1 + math.exp(-(strength[left] - strength[right] + 2 * x)))
            score = float(rng.random() < chance)
            judged.append(
                PairResult(
                    question=f"q{question}", left=left, right=right, score=score, length=x, orders=(score, score)
                )
            )
    return PairResults(judged=judged, plan=judged_by("solomon"))


def model(board: dict[str, Any], label: str) -> dict[str, Any]:
    (found,) = [one for one in board["models"] if one["label"] == label]
    return dict(found)


def test_every_number_of_a_small_leaderboard_by_hand() -> None:
    """Wins, ties, losses, flips, failures and what is left out, counted on paper."""
    board = board_of(small(), "a", "b", "c", n_resamples=20)
    a, b, c = (model(board, name) for name in "abc")
    assert [one["win_rate"]["value"] for one in (a, b, c)] == [2.5 / 4, 0.5 / 3, 2 / 3]
    assert (a["win_rate"]["wins"], a["win_rate"]["ties"], a["win_rate"]["losses"]) == (2, 1, 1)
    assert (a["judged"], a["flips"], a["failed"]) == (3, 2, {"truncated": 1})
    assert (c["judged"], c["flips"], c["failed"]) == (2, 1, {})
    assert (b["left_out"], c["left_out"]) == (3, 1)
    assert board["counts"] == {"pairs": 8, "judged": 4, "forfeits": 1, "left_out": 3, "questions": 2}
    ab, ac, bc = board["pairs"]
    assert (ab["left"], ab["right"], ab["win_rate"]["value"]) == ("a", "b", 0.75)
    assert (ac["win_rate"]["value"], bc["win_rate"]["value"]) == (0.5, 0.0)
    position = board["position"]
    assert (position["n_pairs"], position["n_flipped"]) == (4, 2)
    assert position["flips"]["value"] == 0.5
    assert position["first"]["value"] == pytest.approx((0.5 + 1.0 + 0.25 + 0.5) / 4)


def test_the_schema_holds_for_every_kind_of_board() -> None:
    """Ranked, not ranked, with length control, with nothing at all."""
    validator = jsonschema.Draft202012Validator(load_schema("leaderboard"))
    nothing = PairResults(plan={"judge": None}, complete=False)
    one_way = PairResults(judged=[PairResult(question="q", left="a", right="b", score=1.0)], plan=judged_by("s"))
    boards = [
        board_of(small(), "a", "b", "c"),
        board_of(arena(), "strong", "middle", "wordy", length_control=True, n_resamples=50),
        board_of(nothing, "a", "b"),
        board_of(one_way, "a", "b"),
        board_of(one_way, "a", "b", length_control=True),
    ]
    for board in boards:
        assert list(validator.iter_errors(json.loads(json.dumps(board, allow_nan=False)))) == []
    bad = copy.deepcopy(boards[0])
    bad["models"][0]["win_rate"]["value"] = math.nan
    assert not validator.is_valid(bad)


def test_nothing_judged_is_null_and_says_so() -> None:
    """Never zero, never 1000."""
    board = board_of(PairResults(plan={"judge": None}, complete=False), "a", "b")
    for one in board["models"]:
        assert (one["win_rate"]["value"], one["elo"], one["rank"]) == (None, None, None)
        assert one["reason"]
    assert board["ranked_by"] == "win rate"
    assert any("PARTIAL" in text for text in banners(board))


def test_alpaca_eval_2_has_a_regression_of_its_own_for_each_model() -> None:
    """Against the baseline, on lengths in characters: what the wordy model wins by its length is taken away."""
    results = arena(n=400)
    results.judged = [
        replace(one, characters=(int(1_000 * (1 + one.length)), int(1_000 * (1 - one.length))))
        for one in results.judged
    ]
    board = board_of(results, "strong", "middle", "wordy", baseline="middle", length_control=True, n_resamples=40)
    check_schema(board, "leaderboard")
    strong, wordy = model(board, "strong")["alpaca_eval_2"], model(board, "wordy")["alpaca_eval_2"]
    assert "alpaca_eval_2" not in model(board, "middle")
    assert wordy["n"] == 400
    assert wordy["value"] < model(board, "wordy")["win_rate"]["value"]
    assert wordy["value"] < 0.5 < strong["value"]
    assert wordy["length"] > 0.5
    assert [line.partition(":")[0] for line in alpaca_eval_lines(board)] == [
        f"AlpacaEval 2, length-controlled, {one['label']} against middle"
        for one in board["models"]
        if one["label"] != "middle"
    ]


def test_a_model_that_never_lost_has_no_rank_and_says_why() -> None:
    """It keeps its win rate, has no Elo, and every page names the reason."""
    judged = [
        *(PairResult(question=f"q{n}", left="best", right=other, score=1.0) for n in range(6) for other in ("x", "y")),
        *(PairResult(question=f"q{n}", left="x", right="y", score=float(n % 3 > 0)) for n in range(6)),
    ]
    board = board_of(PairResults(judged=judged, plan=judged_by("s")), "best", "x", "y")
    best = model(board, "best")
    assert (best["elo"], best["rank"], best["win_rate"]["value"]) == (None, None, 1.0)
    assert best["win_rate"]["ci_lower"] < 1
    said = "it lost to none of x, y, and did not tie either"
    assert best["reason"] == said
    assert f"best has no Elo: {said}." in banners(board)
    assert said in "".join(html_page(board))


def test_both_orders_are_read_from_what_the_store_keeps() -> None:
    """A judge of the first seat: the response wins when it comes first and loses when it comes second."""
    opinion = {"judge": "s", "questions": [["response_first", "first"], ["baseline_first", "first"]]}
    assert orders_of([{"opinions": [opinion]}]) == (1.0, 0.0)
    steady = {"judge": "t", "questions": [["response_first", "first"], ["baseline_first", "second"]]}
    assert orders_of([{"opinions": [opinion, steady]}]) == (1.0, 0.5)
    assert orders_of([{"opinions": [{"judge": "u", "questions": []}]}]) is None
    assert orders_of([]) is None


def test_pages_are_inert_and_the_same_each_time(tmp_path: Path) -> None:
    """Names are hostile; no script, no handler, nothing outside, no escape sequence, and equal bytes."""
    judged = small()
    renamed = [
        PairResult(
            question=one.question,
            left=EVIL if one.left == "a" else one.left,
            right=EVIL if one.right == "a" else one.right,
            score=one.score,
            orders=one.orders,
        )
        for one in judged.judged
    ]
    board = board_of(PairResults(judged=renamed, plan=judged.plan), EVIL, "b", "c", n_resamples=10)
    board["judge"]["panel"][0] = {"name": f"{EVIL} judge", "model": f"{EVIL} model"}
    for one in board["models"]:
        one["reason"] = f"{EVIL} reason"
    page = "".join(html_page(board))
    assert "<script" not in page
    assert "\x1b" not in page
    tags = " ".join(re.findall(r"<[a-z][^>]*>", page))
    assert not re.search(r'\s(src|style|on\w+)=|<(link|iframe|img|object)|href="(?!#)', tags)
    assert "default-src 'none'; style-src 'sha256-" in page.replace("&#39;", "'")
    assert "".join(html_page(board)) == page
    write_html(tmp_path, board)
    assert (tmp_path / "leaderboard.html").read_text(encoding="utf-8") == page


def test_the_rows_and_the_matrix_of_the_page() -> None:
    """Numbers with intervals, wins, what failed; the matrix reads row against column."""
    board = board_of(small(), "a", "b", "c", n_resamples=200)
    ranked, counted = ranked_table(board), counts_table(board)
    rates = {cells[1]: cells[-1] for cells in ranked.texts()}
    assert rates["a"].startswith("62.50\u202f% (")
    counts = {cells[0]: cells[1:] for cells in counted.texts()}
    assert counts["a"] == ["4", "2 / 1 / 1", "2", "truncated 1", "2"]
    assert counts["b"][-1] == "3"
    matrix = matrix_table(board)
    columns = {column.words: column for column in matrix.columns}
    assert [columns["b"].text("a"), columns["a"].text("b"), columns["a"].text("a")] == [
        "75.00\u202f%",
        "25.00\u202f%",
        "",
    ]
    assert columns["b"].note is not None
    assert columns["b"].note("a") == "n 2"
