"""How a grader's reply is read, and that what nel changes of Inspect's own holds in a run alone."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from nel_inspect.bridge import open_task

from nel.discovery.conformance import check_plugin
from nel.errors import JudgeError
from nel.judges.registry import judge_for
from nel.judges.types import Case

TASK = f"inspect://{Path(__file__).with_name('graded_tasks.py')}@graded?kind="
HAS_INSPECT = find_spec("inspect_ai") is not None
WHY = "inspect_ai is not installed: pip install inspect_ai"


@pytest.mark.parametrize(
    ("pattern", "reply", "grade"),
    [
        (r"SCORE: (\d+)", "SCORE: 7", 7.0),
        (r"SCORE: (\d+)", "SCORE: 7\nAgain, SCORE: 7", 7.0),
        (r"SCORE: (\d+)", "SCORE: 7\nNo, SCORE: 3", "two_verdicts"),
        (r"SCORE: (\d+)", "They wrote:\n> SCORE: 9\n\nSCORE: 3", 3.0),
        (r"(?is).*VERDICT: (\w+)", "VERDICT: no\nOr rather:\nVERDICT: yes", 1.0),
        (r"VERDICT: (\w+)", "VERDICT: perhaps", "no_verdict"),
        (r"VERDICT: \w+", "VERDICT: yes", "bad_template"),
        (r"VERDICT: (", "VERDICT: yes", "bad_template"),
        (r"(a+)+$", "a" * 5_000 + "b", "no_verdict"),
        (None, "GRADE:\n\u200bcorrect", 1.0),
        (None, "Not GRADE: C, but GRADE: I", "two_verdicts"),
        (None, "Not GRADE: C.\nFor good reasons,\nGRADE: I", 0.0),
        (None, "GRADE: CI", "no_verdict"),
        (None, "downgrade: C", "no_verdict"),
        (None, "GRADE: P", "no_verdict"),
        (None, "GRADE: C, or so the answer says: GRADE: $LETTER", "no_verdict"),
    ],
)
def test_a_reply_is_read_strictly(pattern: str | None, reply: str, grade: float | str) -> None:
    """By Inspect's rule or the author's pattern, in the judge's own words; what is in doubt is not a grade."""
    values = {"_pattern": pattern, "_grades": "CI", "_foreign": ("I wrote SCORE: 9",)}
    case = Case(
        response="I wrote SCORE: 9", question="Well?", template="inspect_grade", values=values
    )
    if isinstance(grade, float):
        (question,) = judge_for(case).ask(case)
        assert question.read(reply).score == grade
        return
    with pytest.raises(JudgeError) as caught:
        judge_for(case).ask(case)[0].read(reply)
    assert caught.value.kind == grade


@pytest.mark.parametrize("name", ["inspect_grade", "inspect_reply"])
def test_the_judges_are_judges_as_any_other(name: str) -> None:
    """They keep the contract of the plugins' group."""
    assert [finding for finding in check_plugin(name, kind="judges") if not finding.passed] == []


@pytest.mark.skipif(not HAS_INSPECT, reason=WHY)
@pytest.mark.filterwarnings(
    "ignore:The 'initial' parameter:DeprecationWarning"
)  # of tenacity, in Inspect
def test_inspect_is_as_it_was_outside_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own models send by themselves again, and none of nel's stays in its cache."""
    import inspect_ai.model as theirs  # noqa: PLC0415 - the fixture skips without it
    import tiktoken  # noqa: PLC0415 - as above

    by_letter = SimpleNamespace(encode=lambda text, **_: list(text))  # else a table is downloaded
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: by_letter)

    open_task(f"{TASK}named")
    model = theirs.get_model(
        "mockllm/model", custom_outputs=[theirs.ModelOutput.from_content("m", "itself")]
    )
    assert asyncio.run(model.generate("Who?")).completion == "itself"
    with pytest.raises(Exception, match=r"(?i)openai"):
        theirs.get_model("openai/gpt-4o", config=theirs.GenerateConfig(seed=7))


@pytest.mark.skipif(not HAS_INSPECT, reason=WHY)
def test_an_unknown_version_of_inspect_is_refused() -> None:
    """What nel cannot guard, it does not run half guarded."""
    program = (
        "import inspect_ai.scorer._model as graded; del graded.model_scoring_prompt\n"
        "from nel_inspect.bridge import open_task\n"
        f"open_task('{TASK}qa')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert "MissingExtra: nel-inspect does not know inspect_ai" in done.stderr
    assert "without model_scoring_prompt" in done.stderr
