"""A scorer can be named on the command line, with options, instead of the benchmark's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.authoring.scorer_names import find_scorer
from nel.errors import ConfigError, PluginError
from tests.support.runs import nel, only_run, read_json, write_jsonl


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


def test_another_scorer_scores_stored_answers_again(tmp_path: Path) -> None:
    """--scorer on a resume re-scores; the bundle names the scorer with its options."""
    row = {"question": "q", "answer": "x #### 42", "out": "It is 42, or so."}
    write_jsonl(tmp_path / "data.jsonl", [row])
    command = ("eval", "run", "--bench", "gsm8k", "--dataset", "data.jsonl", "--response-field", "out", "-o", "out")
    assert nel(*command, cwd=tmp_path).returncode == 0
    metrics = only_run(tmp_path / "out") / "gsm8k" / "metrics.json"
    assert read_json(metrics)["headline"]["value"] == 1.0
    again = nel(*command, "--resume", "--scorer", "exact_match", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert read_json(metrics)["headline"]["value"] == 0.0
    fuzzy = nel(*command, "--resume", "--scorer", "fuzzy_match:threshold=90", cwd=tmp_path)
    assert fuzzy.returncode == 0, fuzzy.stderr
    bundle = read_json(metrics.with_name("eval-gsm8k.json"))
    assert bundle["config"]["scorer"]["name"] == "nel.scoring.text:fuzzy_match(threshold=90)"
    assert read_json(metrics)["headline"]["value"] == 1.0
