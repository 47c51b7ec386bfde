"""What episodes are estimated to take, by those of an earlier run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nel.config.schema import Price
from nel.runs.episode_estimate import read_use
from tests.support.runs import write_jsonl


@pytest.mark.parametrize(
    ("reported", "prompt_tokens", "cost"), [([100, None, 300], 2000, 0.004), ([None, None], None, None)]
)
def test_tokens_that_were_not_reported_are_not_zero(
    tmp_path: Path, reported: Sequence[int | None], prompt_tokens: int | None, cost: float | None
) -> None:
    """The mean is that of the episodes whose endpoint counted; without one neither tokens nor a cost is known."""
    (tmp_path / "bank").mkdir()
    lines = ({"episode": {"steps": 3}, "reward": 1.0, "tokens": {"prompt": n, "completion": n}} for n in reported)
    write_jsonl(tmp_path / "bank" / "results.jsonl", lines)
    estimate = read_use(str(tmp_path), "bank", prompt_tokens=7).of(10, Price(input=1, output=1))
    assert (estimate["requests"], estimate["prompt_tokens"]) == (30, prompt_tokens)
    assert estimate["cost"] == (cost if cost is None else pytest.approx(cost))
