"""A scorer can be named on the command line, with options, instead of the benchmark's own."""

from __future__ import annotations

import pytest

from nel.authoring.scorer_names import find_scorer
from nel.errors import ConfigError, PluginError
from nel.types import ScorerInput


def test_options_are_read_as_yaml() -> None:
    """A number is a number; the option reaches the scorer."""
    sample = ScorerInput(response="The capital is Canbera.", target="Canberra")
    assert find_scorer("fuzzy_match")(sample)["correct"] is False  # type: ignore[index]
    assert find_scorer("fuzzy_match:threshold=85")(sample)["correct"] is True  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("fuzy_match", PluginError, 'did you mean "fuzzy_match"'),
        ("fuzzy_match:treshold=1", ConfigError, 'has no option "treshold"; did you mean "threshold"'),
        ("fuzzy_match:threshold", PluginError, "write options as key=value, as in fuzzy_match:threshold=VALUE"),
        ("nle:fuzzy_match", PluginError, 'no package "nle" provides a scorer "fuzzy_match"'),
        ("exact_match:x=1", ConfigError, "it has: none"),
        ("multichoice_regex:pattern=[", ConfigError, "not valid YAML"),
    ],
)
def test_wrong_choices_are_named(text: str, error: type[Exception], message: str) -> None:
    """Unknown scorers and options are errors with a suggestion."""
    with pytest.raises(error) as caught:
        find_scorer(text)
    assert message in str(caught.value)
