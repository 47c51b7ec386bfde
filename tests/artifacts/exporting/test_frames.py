"""A run as a DataFrame: every result is a row, and what has no score is missing, never 0."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas
import pytest

import nel
from nel.artifacts.exporting.table import METRIC_COLUMNS, SAMPLE_COLUMNS
from nel.errors import UsageError
from tests.artifacts.exporting.test_tables import stored
from tests.support.runs import read_json


def test_samples_and_metrics_are_those_of_the_run(finished: Path) -> None:
    """Rewards, states and types are kept; an unscored result is missing and is left out of a mean."""
    samples, metrics = nel.to_pandas(finished), nel.to_pandas(str(finished), "metrics")
    expected = stored(finished)
    assert list(samples.columns) == list(SAMPLE_COLUMNS)
    assert [None if one is pandas.NA else one for one in samples.reward] == [one["reward"] for one in expected]
    assert samples.reward.isna().sum() == 3
    headline = read_json(finished / "quiz" / "metrics.json")["headline"]
    assert samples.reward.mean() == pytest.approx(headline["value"])
    assert samples.state.value_counts().to_dict() == {"scored": 24, "unscored": 3, "model_failure": 3}
    assert str(samples.dtypes["prompt_tokens"]) == "Int64"
    assert list(metrics.columns) == list(METRIC_COLUMNS)
    assert metrics.value[0] == headline["value"]


def test_what_is_missing_is_named(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong table and a missing pandas have a message that says what to do."""
    with pytest.raises(UsageError, match='no table "rows" of a run; ask for samples or metrics'):
        nel.to_pandas(finished, "rows")  # type: ignore[arg-type] # the point
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"needs pandas .*; pip install pandas"):
        nel.to_pandas(finished)
