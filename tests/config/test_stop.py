"""The grammar of ``--stop-when``: what is read, and what is refused with the next step."""

from __future__ import annotations

import pytest

from nel.config.load import build_config
from nel.config.schema.stop import read_condition
from nel.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "kind", "value", "baseline"),
    [
        ("width<0.02", "width", 0.02, ""),
        (" width < 0.02 ", "width", 0.02, ""),
        ("better-or-worse runs/base line", "better-or-worse", 0.0, "runs/base line"),
        ("futile accuracy>=0.8", "futile", 0.8, ""),
        ("futile mean_reward >= .5", "futile", 0.5, ""),
    ],
)
def test_what_is_read(text: str, kind: str, value: float, baseline: str) -> None:
    """Spaces do not matter, and a directory may hold some."""
    found = read_condition(text)
    assert (found.kind, found.value, found.baseline) == (kind, value, baseline)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("widht<0.02", '"widht<0.02" is not a stop rule; did you mean "width"?'),
        (
            "narrower 3",
            '"narrower 3" is not a stop rule; say width<0.05, better-or-worse BASELINE or futile accuracy>=0.8',
        ),
        ("width<2", '"width<2": 2 is not a number between 0 and 1'),
        ("width>0.1", '"width>0.1" cannot be read; say width<0.05'),
        ("better-or-worse", "names no run; say better-or-worse BASELINE"),
        ("futile acuracy>=0.8", 'did you mean "accuracy"?'),
        ("futile f1>=0.8", '"f1" is not a name of the headline'),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    """Each with what it should have been, before anything is read or sent."""
    with pytest.raises(ConfigError) as caught:
        build_config({"benchmarks": ["quickstart"], "stop": {"when": [text]}}, where="test")
    assert said in str(caught.value)
    assert caught.value.exit_code == 2
