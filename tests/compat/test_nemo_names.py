"""Benchmark files written for NeMo Evaluator run as they stand, and nothing of the lent names stays."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.lent_names import standing_in
from nel.authoring.registry import find_benchmark
from nel.compat.nemo.names import NAMES
from nel.errors import ConfigError, JudgeError, PluginError
from nel.judges.registry import judge_for
from nel.types import ScorerInput
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.judging import replying
from tests.support.runs import read_json, read_results, write_jsonl

MEDICAL = """
import re
from nemo_evaluator.contrib.byob import benchmark, scorer, ScorerInput

LETTERS = {"0": "A", "1": "B", "2": "C"}

@benchmark(
    name="medical-choice",
    dataset="rows.jsonl",
    prompt="{question}\\nA) {a}\\nB) {b}\\nC) {c}\\nLetter:",
    target_field="right",
    endpoint_type="chat",
    requirements=["datasets"],
    field_mapping={"first": "a", "second": "b", "third": "c", "a column that no row has": "d"},
)
@scorer
def medical(sample: ScorerInput) -> dict:
    found = re.search(r"\\b([A-C])\\b", sample.response)
    return {"correct": bool(found) and found[1] == LETTERS[sample.target.strip()], "parsed": bool(found)}
"""

JUDGED = """
from nemo_evaluator.contrib.byob import ScorerInput, benchmark, scorer
from nemo_evaluator.contrib.byob.judge import JudgeConfig, judge_score

@benchmark(
    name="judged",
    dataset="rows.jsonl",
    prompt="{question}",
    target_field="best",
    extra={"judge": {"url": "http://127.0.0.1:9/v1", "model_id": "big-judge", "api_key": "JUDGE_KEY"}},
)
@scorer
def judged(sample: ScorerInput) -> dict:
    result = judge_score(sample, template="{response}? GRADE: ", grade_pattern=r"GRADE: ([CI])", best=sample.target)
    return {"truthful": result["judge_score"]}
"""

ROWS = {
    "medical": [
        {"question": "1?", "first": "x", "second": "y", "third": "z", "right": 1},
        {"question": "2?", "first": "x", "second": "y", "third": "z", "right": 0},
    ],
    "multilingual": [
        {"question": "1?", "option_a": "x", "option_b": "y", "answer": "B", "subject_category": "STEM"},
        {"question": "2?", "option_a": "x", "option_b": "y", "answer": "A", "subject_category": "Law"},
    ],
    "judged": [{"question": "1?", "best": "x"}],
}


def write(tmp_path: Path, source: str, rows: str = "medical") -> dict[str, Any]:
    """Write a file with its rows and return the configuration of a run of it, but for the URL."""
    (tmp_path / "bench.py").write_text(source)
    write_jsonl(tmp_path / "rows.jsonl", ROWS[rows])
    return {"benchmarks": [str(tmp_path / "bench.py")], "output": {"dir": str(tmp_path / "out")}}


def run(settings: dict[str, Any], script: Any) -> tuple[Any, list[Call]]:
    with scripted(script, models=["m"]) as endpoint:
        result = nel.evaluate({**settings, "endpoint": {"url": endpoint.url, "model": "m"}})
        return result, endpoint.calls


def test_a_medical_multiple_choice(tmp_path: Path) -> None:
    """Its mapping names a column that is not there, and its scorer takes the number of the target for text."""
    result, calls = run(write(tmp_path, MEDICAL), lambda *_: answer("B"))
    assert result.exit_code == 0
    assert [row["reward"] for row in read_results(result.run_dir, "medical-choice")] == [1.0, 0.0]
    assert calls[-1].body["messages"][0]["content"].endswith("?\nA) x\nB) y\nC) z\nLetter:")


def test_a_benchmark_of_completions_is_asked_by_that_protocol(tmp_path: Path) -> None:
    """A base URL says no protocol, so the file does; a resume keeps it and sends nothing."""
    settings = write(tmp_path, MEDICAL.replace('endpoint_type="chat"', 'endpoint_type="completions"'))
    reply = Reply(body={"model": "m", "choices": [{"index": 0, "text": "B", "finish_reason": "stop"}]})
    with scripted(lambda *_: reply, models=["m"]) as endpoint:
        settings["endpoint"] = {"url": endpoint.url, "model": "m"}
        result = nel.evaluate(settings)
        n_sent = len(endpoint.calls)
        again = nel.evaluate(settings, resume=True)
    assert (result.exit_code, again.exit_code) == (0, 0)
    assert {call.path for call in endpoint.calls} == {"/v1/completions"}
    assert len(endpoint.calls) == n_sent
    assert [row["reward"] for row in read_results(result.run_dir, "medical-choice")] == [1.0, 0.0]


@pytest.mark.parametrize("named", [{"protocol": "chat"}, {"path": "/chat/completions"}])
def test_a_protocol_that_the_run_names_is_not_switched(tmp_path: Path, named: dict[str, str]) -> None:
    """A run that says chat, by its setting or its address, is refused before anything is sent."""
    settings = write(tmp_path, MEDICAL.replace('endpoint_type="chat"', 'endpoint_type="completions"'))
    with scripted(lambda *_: answer("B"), models=["m"]) as endpoint:
        named = {**named, "url": f"{endpoint.url}{named.get('path', '')}", "model": "m"}
        named.pop("path", None)
        with pytest.raises(ConfigError, match="needs the completions protocol and the endpoint is set to chat"):
            nel.evaluate({**settings, "endpoint": named})
    assert not endpoint.calls


@pytest.mark.parametrize(("module", "left"), [("nemo_evaluator.contrib.byob", []), ("nemo_evaluator", ["first"])])
def test_a_renamed_column_has_its_old_name_only_where_the_tool_keeps_it(
    tmp_path: Path, module: str, left: list[str]
) -> None:
    """Its older decorator renames columns, its newer one adds the new name."""
    path = write(tmp_path, MEDICAL.replace("nemo_evaluator.contrib.byob", module))["benchmarks"][0]
    sample = find_benchmark(path).sample(ROWS["medical"][0], sample_id="1")
    assert sample.metadata["a"] == "x"
    assert [name for name in ("first",) if name in sample.metadata] == left


def seen_by(made: Any, judge: Any, **row: Any) -> ScorerInput:
    """Return what the scorer of a benchmark gets in a run."""
    return ScorerInput(
        response="x", target="x", metadata={"question": "1?", **row}, config=dict(made.extra), judge_fn=judge
    )


MULTILINGUAL = """
from nemo_evaluator.contrib.byob import ScorerInput, benchmark, scorer
from nemo_evaluator.contrib.byob.scorers import mcq_letter_extract

@benchmark(
    "Lite-MMLU", "rows.jsonl", "{question}\\n{a} / {b}", "answer", field_mapping={"option_a": "a", "option_b": "b"}
)
@scorer
def lite(sample: ScorerInput) -> dict:
    verdict = mcq_letter_extract(sample)
    return {**verdict, f"correct_{sample.metadata['subject_category']}": verdict["correct"]}
"""


def test_a_multilingual_one_with_scores_by_category(tmp_path: Path) -> None:
    """Parameters by position, a built-in scorer of BYOB, and a key that only some samples have."""
    result, _ = run(write(tmp_path, MULTILINGUAL, "multilingual"), lambda *_: answer("The answer is B."))
    found = read_json(result.run_dir / "lite-mmlu" / "metrics.json")["metrics"]
    assert {row["name"]: (row["value"], row["n"]) for row in found} == {
        "accuracy": (0.5, 2),
        "correct_STEM": (1.0, 1),
        "correct_Law": (0.0, 1),
    }


def test_a_judged_one(tmp_path: Path) -> None:
    """Its names are there, and its judge's grade is its score; outside of a run there is no judge."""
    made = find_benchmark(write(tmp_path, JUDGED, "judged")["benchmarks"][0])
    assert made.judge is not None
    assert made.extra["judge"]["model_id"] == "big-judge"
    judge = replying("Well. GRADE: C")
    assert made(seen_by(made, judge.now)) == {"truthful": 1.0}
    with pytest.raises(JudgeError, match="outside of a run"):
        made(seen_by(made, None))


TRUTHFUL = """
from nemo_evaluator.contrib.byob import benchmark, scorer, ScorerInput
from nemo_evaluator.contrib.byob.judge import (
    JudgeConfig, judge_call, parse_grade, render_judge_prompt, _get_judge_session,
)

TEMPLATE = "Is it true?\\nQuestion: {question}\\nCorrect:\\n{correct}\\nResponse: {response}\\nEnd with C or I."

@benchmark(
    name="truthful",
    dataset="rows.jsonl",
    prompt="{question}",
    target_field="best",
    extra={"judge": {"url": "http://127.0.0.1:9/v1", "model_id": "big-judge", "api_key": "JUDGE_KEY"},
           "judge_1": JudgeConfig(url="http://127.0.0.1:9/v1", model_id="other")},
)
@scorer
def truthful(sample: ScorerInput) -> dict:
    given = sample.config.get(sample.metadata.get("who", "judge"))
    config = JudgeConfig.from_dict(given) if isinstance(given, dict) else given
    prompt = render_judge_prompt(
        TEMPLATE, question=sample.metadata["question"], response=sample.response, correct="- a\\n- b"
    )
    try:
        session = sample.config.get("_judge_session") or _get_judge_session(config)
        reply = judge_call(config, prompt, session=session)
    except Exception:
        return {"truthful": 0.0, "judge_grade": "CALL_ERROR"}
    grade = parse_grade(reply, r"GRADE:\\s*([CI])")
    if grade is None:
        return {"truthful": 0.0, "judge_grade": "PARSE_ERROR"}
    return {"truthful": 1.0 if grade == "C" else 0.0, "judge_grade": grade}
"""


def test_one_that_calls_the_judge_itself(tmp_path: Path) -> None:
    """As published files do: prompt, call and grade one by one; a fault that it makes 0 of is unscored here."""
    made = find_benchmark(write(tmp_path, TRUTHFUL, "judged")["benchmarks"][0])
    judge = replying("GRADE: I at first. In the end GRADE: C")
    assert made(seen_by(made, judge.now)) == {"truthful": 1.0, "judge_grade": "C"}
    (case,) = judge.cases
    assert (case.response, case.question, case.judges) == ("x", "1?", ())
    (question,) = judge_for(case).ask(case)
    assert "Correct:" in question.prompt
    assert "- a\n- b" in question.prompt
    made(seen_by(made, judge.now, who="judge_1"))
    assert judge.cases[-1].judges == ("judge_1",)
    with pytest.raises(JudgeError, match="PARSE_ERROR"):
        made(seen_by(made, replying("[no grade]").now))


@pytest.mark.parametrize("source", [JUDGED, TRUTHFUL], ids=["judge_score", "judge_call"])
def test_judged_ones_run_as_they_stand(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the judge that the file names: right, wrong, and unscored where the judge says nothing of use."""
    monkeypatch.setenv("JUDGE_KEY", "some-key-of-a-judge")

    def judge(call: Call, _: int) -> Reply:
        said = {"x0": "Fine.\nGRADE: C", "x1": "No.\nGRADE: I", "x2": "[none]"}
        return answer(next(reply for text, reply in said.items() if text in call.text))

    with scripted(judge) as endpoint:
        settings = write(tmp_path, source.replace("http://127.0.0.1:9/v1", endpoint.url), "judged")
        write_jsonl(tmp_path / "rows.jsonl", ({"question": f"{n}?", "best": "b"} for n in range(3)))
        result, _ = run(settings, lambda call, _: answer(f"x{call.text[0]}"))
        assert result.exit_code == 3
        (rows,) = (read_results(result.run_dir, one.slot) for one in result.benchmarks)
        assert [row["reward"] for row in rows] == [1.0, 0.0, None]
        assert rows[2]["outcome"]["cause"] == "judge"
        assert {call.body["model"] for call in endpoint.calls} == {"big-judge"}
        assert endpoint.calls[0].headers["Authorization"] == "Bearer some-key-of-a-judge"


TOP = """
import nemo_evaluator
from nemo_evaluator import ScorerInput, benchmark, exact_match, multichoice_regex, scorer
from nemo_evaluator.environments.base import SeedResult
from nemo_evaluator.environments.custom import benchmark as custom_benchmark
from nemo_evaluator.metrics.aggregation import category_breakdown
from nemo_evaluator.scoring import extract_json
from nemo_evaluator.scoring.types import ScorerInput as Again

assert Again is ScorerInput

@benchmark(name="typed", dataset=lambda: [{"q": "1?", "right": 7}], prompt="{q}", target_field="right", weight=3)
@scorer
def typed(sample: ScorerInput) -> dict:
    from nemo_evaluator.contrib.byob.scorers import contains
    return {"correct": sample.target == "7" and sample.config["weight"] == 3 and contains(sample)["correct"],
            "same": nemo_evaluator.exact_match(sample)["correct"]}

@custom_benchmark(name="seeded", dataset=lambda: [{"q": "1?"}], seed_fn=lambda row, idx: SeedResult(row["q"], "7"))
@scorer
async def seeded(sample: ScorerInput) -> dict:
    return exact_match(sample)
"""


def test_the_names_of_the_top_level(tmp_path: Path) -> None:
    """Every target is text there, unknown parameters go to the scorer, and imports inside a function work later."""
    settings = write(tmp_path, TOP)
    settings["benchmarks"] = [f"{settings['benchmarks'][0]}:{name}" for name in ("typed", "seeded")]
    result, _ = run(settings, lambda *_: answer("7"))
    assert result.exit_code == 0
    (typed,) = read_results(result.run_dir, "typed")
    (seeded,) = read_results(result.run_dir, "seeded")
    assert (typed["reward"], seeded["reward"]) == (1.0, 1.0)


ASKING = """
from nemo_evaluator.byob import ScorerInput, benchmark, scorer

@benchmark(name="sure", dataset=lambda: [{"q": "1?", "right": "True"}], prompt="{q}", target_field="right")
@scorer
def sure(sample: ScorerInput) -> dict:
    said = [sample.model_call_fn([{"role": "user", "content": "Sure?"}], "chat") for _ in range(2)]
    return {"correct": sample.target.lower() == "true" and said == ["yes 0", "yes 1"]}
"""


def test_a_scorer_asks_the_model_with_the_protocol_after_the_prompt(tmp_path: Path) -> None:
    """As NeMo Evaluator declares `model_call_fn`; what is asked twice gets two answers."""

    def script(call: Call, number: int) -> Reply:
        return answer(f"yes {number}")

    result, calls = run(write(tmp_path, ASKING), script)
    (row,) = read_results(result.run_dir, "sure")
    assert row["reward"] == 1.0
    assert len([call for call in calls if "Sure?" in json.dumps(call.body)]) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "from nemo_evaluator.contrib.byob import benchmrk",
            r"no benchmrk to stand for nemo_evaluator.contrib.byob.benchmrk; .* in nel.compat.nemo.decorators .* mean .benchmark",
        ),
        ("from nemo_evaluator import ChatSolver", r"nel has no ChatSolver to stand for nemo_evaluator.ChatSolver"),
        ("import nemo_evaluator.solvers", r"nothing to stand for nemo_evaluator.solvers; it stands for nemo_evaluator"),
        ("from nemo_evaluator.contrib.byob.scorers import judge", "looked for in nel.compat.nemo.forms; did you mean"),
    ],
)
def test_a_name_that_nel_does_not_have(tmp_path: Path, line: str, message: str) -> None:
    """The error names the file, the name and where nel looked for it."""
    (tmp_path / "bench.py").write_text(line)
    with pytest.raises(PluginError, match=rf"bench.py cannot be imported: .*{message}"):
        find_benchmark(str(tmp_path / "bench.py"))
    assert not [name for name in sys.modules if name.startswith("nemo_evaluator")]


def test_every_name_that_is_lent_exists() -> None:
    """Each module of the table can be imported, with all that it lists."""
    code = "\n".join(f"from {module} import *" for module in NAMES.homes)
    space: dict[str, Any] = {}
    with standing_in():
        exec(code, space)  # noqa: S102 - import * is allowed at module level alone
    assert {"benchmark", "scorer", "ScorerInput", "any_of", "gsm8k_answer", "category_breakdown"} <= set(space)


def test_an_installed_nemo_evaluator_is_left_alone(tmp_path: Path) -> None:
    """Where it can be imported nel stands for nothing, and the file gets the real one."""
    package = tmp_path / "site" / "nemo_evaluator"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("REAL = True\n")
    (tmp_path / "bench.py").write_text(
        "import nemo_evaluator\nfrom nel import benchmark, scorer\nassert nemo_evaluator.REAL\n"
        "@benchmark(name='b', dataset='d.jsonl', prompt='{q}')\n@scorer\ndef b(sample):\n    return True\n"
    )
    (tmp_path / "gone.py").write_text("from nemo_evaluator.contrib.byob import benchmark\n")
    (tmp_path / "theirs.py").write_text("import nemo_evaluator\n")
    code = (
        "from nel.authoring.registry import find_benchmark\nfrom nel.errors import PluginError\n"
        "assert find_benchmark('bench.py').name == 'b'\n"
        "for name in ('gone.py', 'theirs.py'):\n"
        "    try:\n        find_benchmark(name)\n    except PluginError as error:\n        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": f"{tmp_path / 'site'}:{Path(nel.__file__).parents[1]}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "No module named 'nemo_evaluator.contrib'" in done.stdout
    assert "theirs.py defines no benchmark of nel: nemo_evaluator is installed" in done.stdout


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("text", ("exact_match", "fuzzy_match")),
        ("pattern", ("multichoice_regex", "answer_line", "numeric_match")),
        ("judge", ("needs_judge", "judge_score")),
        ("json_schema", ("extract_json", "validate_json_schema")),
        ("types", ("ScorerInput",)),
    ],
)
def test_the_page_of_scorers_names_modules_that_nel_has(module: str, names: tuple[str, ...]) -> None:
    """A name that NeMo Evaluator's page gives is found below nel.scoring under the same module, and from the top."""
    found = importlib.import_module(f"nel.scoring.{module}")
    assert all(getattr(found, name) is getattr(nel, name) for name in names)
    with pytest.raises(AttributeError, match="no attribute 'judge_scores'"):
        _ = found.judge_scores
