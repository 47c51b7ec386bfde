"""The sample scorer keeps nel's contract and gives partial credit."""

import pytest
from nel_example.keywords import keywords

from nel import ScorerInput
from nel.discovery.conformance import check_plugin


def test_conformance() -> None:
    """The plugin passes nel's own check."""
    assert [finding for finding in check_plugin("example-keywords") if not finding.passed] == []


def test_keywords_give_partial_credit() -> None:
    """Two of three keywords are worth two thirds."""
    assert keywords(ScorerInput(response="Red and blue.", target="red, blue, green"))[
        "score"
    ] == pytest.approx(2 / 3)
