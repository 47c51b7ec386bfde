"""The worked examples run as they stand: validated, asked over HTTP on their own rows, and compiled."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from nel.discovery.benchmark_checks import check_file
from tests.datasets.test_hub import PATIENT, needs_datasets
from tests.support.endpoint import Call, answer, scripted
from tests.support.hub import FakeHub, running_hub
from tests.support.runs import nel, only_run, read_json, read_results
from tests.support.tiers import first_rows

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "byob"
ANSWERS = {
    "math_reasoning": (r"trays|tank|Tickets", {"trays": "#### 38", "tank": "It is 20 days.", "Tickets": "#### 32"}),
    "medical_choice": (r"scurvy|aorta|insulin", {"scurvy": "Answer: B", "aorta": "Answer: D", "insulin": "It is C."}),
    "multilingual": (r"Cairo|Kairo|Welches Gas", {"Cairo": "A", "Kairo": "A", "Welches Gas": "D"}),
}
"""For each example: what its prompts are told apart by, and the answers; other prompts get none."""
RIGHT = {"math_reasoning": (2, 5), "medical_choice": (2, 4), "multilingual": (3, 6)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the examples, since compiling writes beside them."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


def rows_of(example: str) -> tuple[str, ...]:
    """Return the flags that give an example its local rows, where its own are on the hub."""
    return ("--dataset", f"{example}.jsonl") if example == "medical_choice" else ()


@pytest.mark.parametrize("example", sorted(ANSWERS))
def test_an_example_passes_its_checks(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`nel byob validate` finds nothing."""
    monkeypatch.chdir(EXAMPLES)
    dataset = f"{example}.jsonl" if rows_of(example) else None
    (checks,) = check_file(Path(f"{example}.py"), dataset=dataset).values()
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == 5


@pytest.mark.parametrize("example", first_rows(1, sorted(ANSWERS)))
def test_an_example_gives_the_score_of_its_answers(folder: Path, example: str) -> None:
    """Against a server with known answers the score is the share of right ones, in every breakdown."""
    pattern, answers = ANSWERS[example]

    def script(call: Call, _: int) -> object:
        found = re.search(pattern, call.text)
        return answer(answers[found[0]] if found else "I have nothing to say.")

    with scripted(script) as endpoint:  # type: ignore[arg-type]
        flags = ("--model-url", endpoint.url, "--model-id", "m", *rows_of(example))
        done = nel("eval", "run", "--bench", f"./{example}.py", *flags, cwd=folder)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(folder / "eval_results")
    name = example.replace("_", "-")
    rewards = [row["reward"] for row in read_results(run_dir, name)]
    assert (sum(rewards), len(rewards)) == RIGHT[example]
    if example == "multilingual":
        metrics = read_json(run_dir / name / "metrics.json")["metrics"]
        shown = {one["name"]: (one["value"], one["n"]) for one in metrics}
        assert shown["correct_en"] == (0.5, 2)
        assert shown["correct_de"] == (0.5, 2)
        assert shown["correct_es"] == (0.5, 2)
        assert shown["correct_geography"] == (1.0, 3)
        assert shown["correct_science"] == (0.0, 3)


@needs_datasets
def test_the_medical_example_reads_the_hub(folder: Path) -> None:
    """Its hf:// address, split and renamed columns work against a hub that has rows of that shape."""
    rows = (folder / "medical_choice.jsonl").read_bytes()
    hub = FakeHub(repos={"openlifescienceai/medmcqa": {"validation.jsonl": rows}})
    with running_hub(hub), scripted(lambda call, _: answer("Answer: B")) as endpoint:
        settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_TELEMETRY": "1"} | PATIENT
        flags = ("--model-url", endpoint.url, "--model-id", "m")
        done = nel("eval", "run", "--bench", "./medical_choice.py", *flags, cwd=folder, env=settings)
    assert done.returncode == 0, done.stderr
    results = read_results(only_run(folder / "eval_results"), "medical-choice")
    assert [row["reward"] for row in results] == [1.0, 0.0, 0.0, 0.0]


def test_the_example_of_the_skill_runs(tmp_path: Path) -> None:
    """The benchmark that the skill shows passes its checks on rows of its shape."""
    text = (ROOT / "docs" / "skills" / "byob" / "SKILL.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "bench.py").write_text(code)
    (tmp_path / "questions.csv").write_text("question,answer\nCapital of France?,Paris\n")
    (checks,) = check_file(tmp_path / "bench.py").values()
    assert [check for check in checks if not check.passed] == []


def test_the_judged_example(folder: Path) -> None:
    """Its two questions go to the judge, facts give the score and clarity stands beside it; checks find nothing."""
    (checks,) = check_file(folder / "judged_answers.py").values()
    assert [check for check in checks if not check.passed] == []

    def judge(call: Call, _: int) -> object:
        is_style = "What to look at: Clear" in call.text
        return answer("Well.\nGRADE: 4" if is_style else f"Well.\nGRADE: {'C' if 'sky' in call.text else 'P'}")

    with scripted(lambda *_: answer("So it is.")) as model, scripted(judge) as other:  # type: ignore[arg-type]
        flags = ("--model-url", model.url, "--model-id", "m", "--judge-url", other.url, "--judge-id", "j")
        done = nel("eval", "run", "--bench", "./judged_answers.py", *flags, cwd=folder)
    assert done.returncode == 0, done.stderr
    run = only_run(folder / "eval_results")
    values = {one["name"]: one["value"] for one in read_json(run / "judged-answers" / "metrics.json")["metrics"]}
    assert (values["accuracy"], values["clarity"]) == (0.625, 0.75)
    assert len(other.calls) == 8
