"""`nel plugin check` of scorers and judges: whatever a plugin's code does is a finding with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.discovery.conformance import check_plugin
from tests.support.distributions import install

HEAD = "from nel import Case, Grade, Judge, JudgeError, Question, ScorerInput, scorer\n"
JUDGE = f"""{HEAD}
def read(reply):
    if "VERDICT: yes" not in reply or "that occurs only here" in reply:
        raise JudgeError("no verdict", reply=reply)
    return Grade(label="yes", score=1.0)

def ask(case):
    return [Question(prompt=f"Good? {{case.response}}", read=read)]

def settle(case, grades):
    return grades[0]
"""


def failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, source: str) -> list[str]:
    """Return name and detail of the checks that the plugin ``mine`` of a module fails."""
    module = f"mine_{tmp_path.name.replace('-', '_')}"
    install(tmp_path, "mine", {f"nel.{kind}": {"mine": f"{module}:mine"}}, modules={module: source})
    monkeypatch.syspath_prepend(tmp_path)
    checks = check_plugin("mine", kind=kind)
    return [f"{each.name}: {each.detail}".replace(module, "mine") for each in checks if not each.passed]


@pytest.mark.parametrize(
    ("replaced", "by", "finding"),
    [
        ("Good? {case.response}", "{case.verdict}", "it asks about its example: AttributeError: "),
        ("return [Question", "raise SystemExit(3)\n    [Question", "it asks about its example: RuntimeError: ask left"),
        (
            "return [Question(",
            "return [dict(",
            "it asks about its example: ask of mine returned a list of dict; return a",
        ),
        (
            'raise JudgeError("no verdict", reply=reply)',
            "return None",
            "a reply without a verdict is refused: read ret",
        ),
        (
            "return grades[0]",
            "return grades[1]",
            "its example reply reads as full marks: IndexError: list index out of",
        ),
        (
            "return grades[0]",
            "return 1.0",
            "its example reply reads as full marks: settle of mine returned 1.0 (float);",
        ),
        (
            "{case.response}",
            "",
            "each question holds the response: the prompt of each must hold 'an answer that occurs",
        ),
    ],
)
def test_a_judge_at_fault_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: str, by: str, finding: str
) -> None:
    """What ask, read and settle raise or return instead is said, with the line where there is one."""
    made = 'mine = Judge(name="mine", description="", ask=ask, settle=settle, example_reply="VERDICT: yes")\n'
    assert replaced in JUDGE
    found = failures(tmp_path, monkeypatch, "judges", JUDGE.replace(replaced, by) + made)
    assert found[0].startswith(finding)
    assert ("(mine.py, line " in found[0]) == ("Error: " in finding), found


def test_an_import_that_fails_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = failures(tmp_path, monkeypatch, "judges", "x = 1\nmine = 1 / 0\n")
    assert found.startswith("it can be imported: ")
    assert found.endswith("ZeroDivisionError: division by zero; update or uninstall mine (mine.py, line 2)")


def test_a_scorer_without_full_marks_says_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets, the best answer, what came back, and how to give an example."""
    source = f"{HEAD}@scorer\ndef mine(sample):\n    return {{'share': 0.5 if sample.response else 0.0}}\n"
    (found,) = failures(tmp_path, monkeypatch, "scorers", source)
    assert found.startswith("a gold answer scores 1: tried 18 answers to the targets 'B', '42', 'yes'; best of them")
    assert (
        "the answer 'B' to the target 'B': it gave {'share': 0.5}; give an answer with full marks: @scorer(ex" in found
    )


def test_a_scorer_is_held_to_its_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example takes the place of made-up answers; what the scorer raises for it has its line."""
    example = "example=ScorerInput(response='a b', target='', metadata={'words': ['a', 'b']})"
    source = (
        f"{HEAD}@scorer({example})\ndef mine(sample):\n"
        "    words = sample.metadata['words']\n    return sum(word in sample.response for word in words) / len(words)\n"
    )
    assert failures(tmp_path, monkeypatch, "scorers", source) == []
    other = tmp_path / "other"
    (found,) = failures(other, monkeypatch, "scorers", source.replace("metadata['words']", "metadata['word']"))
    assert "its example is the answer 'a b' to the target '': KeyError: the scorer reads \"word\" (" in found


def test_a_factory_that_raises_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = f"{HEAD}@scorer\ndef mine():\n    raise RuntimeError('no model')\n"
    assert failures(tmp_path, monkeypatch, "scorers", source) == [
        "it can be built: RuntimeError: no model (mine.py, line 4)"
    ]
