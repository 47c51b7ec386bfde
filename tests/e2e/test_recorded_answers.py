"""Recorded answers are scored as live ones: the same text gives the same line of results.jsonl."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_results, write_jsonl

TEXTS = (
    "The answer is 18.",
    "<think>20? Hmm, no.</think>\n18",
    "<think>18",
    "<think>a</think><think>18",
    "20? Hmm, no.\n</think>\n\nThe answer is 18.",
    "<thinking>20</thinking>The answer is 18.",
    "[THINK]The answer is 20.[/THINK]The answer is 18.",
    "<think>18</think>",
    "I <think> so: the answer is 18.",
    "Cut at `</think>`: the answer is 18.",
    '<tool_call>\n{"name": "add", "arguments": {"a": 18}}\n</tool_call>',
    "I add.\n<function=add>{}</function>",
    "",
    " \n",
    "I cannot help with that.",
)
VOLATILE = ("timing", "tokens", "model", "served_model", "finish_reason")


def _rows(path: Path) -> Path:
    rows = ({"question": f"Question {i}?", "answer": "#### 18", "said": text} for i, text in enumerate(TEXTS))
    return write_jsonl(path, rows)


def _lines(tmp_path: Path, output: str) -> list[dict[str, object]]:
    rows = read_results(only_run(tmp_path / output), "gsm8k")
    return [{key: value for key, value in row.items() if key not in VOLATILE} for row in rows]


@pytest.mark.parametrize("truncated", ["failure", "score"])
def test_recorded_answers_are_scored_as_live_ones(tmp_path: Path, truncated: str) -> None:
    """Reasoning, cut-off thoughts, empty texts and refusals: the same outcomes, answers and texts on both ways."""
    data = str(_rows(tmp_path / "data.jsonl"))

    def script(call: Call, _: int) -> Reply:
        return answer(TEXTS[int(call.text.split("Question ")[1].split("?")[0])])

    common = ("eval", "run", "--bench", "gsm8k", "--dataset", data, "--truncated", truncated)
    with scripted(script, models=["m"]) as endpoint:
        live = nel(*common, "--model-url", endpoint.url, "--model-id", "m", "-o", "live", cwd=tmp_path)
    recorded = nel(*common, "--response-field", "said", "-o", "recorded", cwd=tmp_path)
    assert (live.returncode, recorded.returncode) == (0, 0), live.stderr + recorded.stderr
    assert _lines(tmp_path, "recorded") == _lines(tmp_path, "live")
    by_text = dict(zip(TEXTS, _lines(tmp_path, "recorded"), strict=True))
    assert by_text[TEXTS[1]]["extracted_answer"] == "18"
    assert by_text[TEXTS[2]]["outcome"] == by_text[TEXTS[3]]["outcome"]
    assert by_text[TEXTS[2]]["outcome"]["kind"] == "truncated"  # type: ignore[index]
    assert by_text[TEXTS[9]]["model_response"] == TEXTS[9]
    assert by_text[TEXTS[10]]["outcome"]["kind"] == "no_answer"  # type: ignore[index]
    assert by_text[TEXTS[11]]["reward"] == 0
