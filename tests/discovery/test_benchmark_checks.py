"""What `nel byob validate` finds in a file, and that every finding says the fix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nel.authoring import smoke
from nel.discovery import benchmark_checks
from nel.discovery.benchmark_checks import Check, check_file
from nel.errors import PluginError
from tests.support.runs import nel

HEAD = "from nel import ScorerInput, answer_line, benchmark, needs_judge, scorer\n"
BENCHMARK = "@benchmark(name='mine', dataset='rows.jsonl', prompt='{question}', target_field='answer')\n"
DECORATED = HEAD + BENCHMARK + "@scorer\n"
ROWS = [{"question": "1 + 1?", "answer": "2"}, {"question": "2 + 2?", "answer": "4"}]


def checked(folder: Path, text: str, rows: list[dict[str, object]] = ROWS) -> dict[str, Check]:
    """Return the checks of a file's one benchmark by name."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "mine.py").write_text(text)
    (checks,) = check_file(folder / "mine.py").values()
    return {check.name: check for check in checks}


def failures(folder: Path, text: str) -> str:
    """Return what the checks that failed say."""
    return " | ".join(f"{one.name}: {one.detail}" for one in checked(folder, text).values() if not one.passed)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return sample.response == sample.target or 'no'", "return a dict like {'correct': True}"),
        ("return {'verdict': 'good'}", "the scorer returned no number"),
        ("return {'correct': sample.metadata['anwser'] == sample.response}", 'did you mean "answer"?'),
        ("return {'correct': sample.response in sample.target}", "an empty answer scores 0: it gave 1"),
        ("return {'correct': 0.5 + 0.5 * (sample.response == sample.target)}", "an empty answer scores 0: it gave 0.5"),
        ("return {'correct': True}", "return False for an empty response"),
        ("return {'correct': False}", "compare what the scorer looks for with the target field"),
        (
            "return {'correct': sample.response.split()[0] == sample.target}",
            "list index out of range (mine.py, line 5)",
        ),
        ("raise SystemExit(3)", "the scorer left with SystemExit"),
    ],
)
def test_a_scorer_at_fault_gets_the_fix(tmp_path: Path, body: str, said: str) -> None:
    """Each mistake in a scorer shows for an answer made up for it."""
    found = failures(tmp_path, f"{DECORATED}def mine(sample: ScorerInput) -> dict:\n    {body}\n")
    assert said in found


def test_a_scorer_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smoke test ends though the scorer does not."""
    for module in (smoke, benchmark_checks):
        monkeypatch.setattr(module, "SECONDS_MAX", 0.05)
    text = "import threading\n" + DECORATED + "def mine(sample: ScorerInput) -> dict:\n    threading.Event().wait(60)\n"
    assert "did not return within 0.05 s" in failures(tmp_path, text)


def test_a_field_that_no_row_has_is_named_with_the_nearest(tmp_path: Path) -> None:
    """What would be a KeyError for each row is one line, for the prompt and for the target."""
    good = "def mine(sample: ScorerInput) -> dict:\n    return answer_line(sample)\n"
    found = failures(tmp_path, DECORATED.replace("{question}", "{questoin}") + good)
    assert (
        'needs the field "questoin", which is missing; did you mean "question"? the row has answer, question' in found
    )
    found = failures(tmp_path, DECORATED.replace("'answer'", "'anser'") + good)
    assert '"anser"' in found
    assert 'did you mean "answer"?' in found


def test_async_and_judged_scorers_are_understood(tmp_path: Path) -> None:
    """An async scorer is awaited, with the model's answers too; one that asks a judge is not held against it."""
    text = DECORATED + (
        "async def mine(sample: ScorerInput) -> dict:\n"
        "    again = await sample.model_call_fn('Sure?')\n"
        "    return {'correct': again.strip() == sample.target}\n"
    )
    assert failures(tmp_path, text) == ""
    text = DECORATED + "def mine(sample: ScorerInput) -> dict:\n    return needs_judge(sample)\n"
    assert "2 questions about 2 samples" in checked(tmp_path, text)["every answer makes questions for a judge"].detail


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "defines no benchmark; put @benchmark"),
        (HEAD + "@scorer\ndef s(sample):\n    return {}\n", "defines no benchmark; put @benchmark"),
        (HEAD + "@scorer\n" + BENCHMARK + "def s(sample):\n    return {}\n",
         "@benchmark goes above @scorer"),
        (HEAD + "@scorer\ndef s(response, target, metadata):\n    return {}\n", "write def s(sample: ScorerInput)"),
        ("import nobody_has_this\n", "ModuleNotFoundError: No module named 'nobody_has_this'"),
        ("def broken(:\n", "SyntaxError"),
    ],
)  # fmt: skip
def test_a_file_without_a_benchmark_says_what_is_missing(tmp_path: Path, text: str, said: str) -> None:
    """Missing decorators, their order, the old signature and broken files each have their own message."""
    with pytest.raises(PluginError) as caught:
        checked(tmp_path, text)
    assert said in str(caught.value)


def test_the_command_line_shows_it_and_exits_with_2(tmp_path: Path) -> None:
    """`nel byob validate` prints a line for each check, and JSON for programs."""
    checked(tmp_path, DECORATED + "def mine(sample: ScorerInput) -> dict:\n    return {'correct': True}\n")
    done = nel("byob", "validate", "mine.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "FAIL  an empty answer scores 0: it gave 1; return False for an empty response" in done.stdout
    done = nel("byob", "validate", "mine.py:mine", "--json", cwd=tmp_path)
    assert [one["passed"] for one in json.loads(done.stdout)["checks"]].count(False) == 1
    done = nel("byob", "validate", "mine.py:mime", cwd=tmp_path)
    assert 'defines no benchmark "mime"; did you mean "mine"?' in done.stderr
