"""Each canonical benchmark runs end to end on rows of its shape: right, wrong and unusable answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.registry import find_benchmark
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_json, read_results, run_config, write_jsonl

NOTHING = {"day": "", "month": "", "year": ""}


@dataclass
class Case:
    """Rows, what the model answers to each, and what that is worth."""

    rows: list[dict[str, Any]]
    answers: dict[str, str]
    """By a text that stands in the prompt."""
    rewards: list[float | None]
    headline: str = "accuracy"
    failures: int = 0
    """Answers in which the scorer finds none."""
    metrics: dict[str, float] = field(default_factory=dict)


def drop_row(n: int, **answer: Any) -> dict[str, Any]:
    gold = {"number": "", "date": NOTHING, "spans": [], **answer}
    validated = {"number": [""], "date": [NOTHING], "spans": [[]]}
    return {
        "section_id": f"s{n // 2}",
        "passage": "Long ago.",
        "question": f"Question {n}?",
        "answer": gold,
        "validated_answers": validated,
    }


def squad_row(n: int, *spans: str) -> dict[str, Any]:
    starts = [0] * len(spans)
    return {
        "id": str(n),
        "title": "T",
        "context": "Denver won in 1999.",
        "question": f"Question {n}?",
        "answers": {"text": list(spans), "answer_start": starts},
    }


def ifeval_row(n: int, *names: str, **parameters: Any) -> dict[str, Any]:
    return {
        "key": n,
        "prompt": f"Task {n}.",
        "instruction_id_list": list(names),
        "kwargs": [{"num_bullets": None, **parameters} for _ in names],
    }


TRIVIA = {"aliases": ["Paris", "City of Light"], "normalized_aliases": ["paris", "city of light"], "value": "Paris"}
TRUTH = {"category": "Law", "best_answer": "Nothing.", "correct_answers": ["Nothing happens at all"]}

CASES: dict[str, Case] = {
    "aime24": Case(
        rows=[{"ID": f"2024-I-{n}", "Problem": f"Problem {n}.", "Solution": "s", "Answer": 70 + n} for n in range(3)],
        answers={"Problem 0.": r"so \boxed{070}", "Problem 1.": r"so \boxed{70}", "Problem 2.": "I think 72"},
        rewards=[1.0, 0.0, 0.0],
        failures=1,
    ),
    "math500": Case(
        rows=[
            {
                "problem": f"Problem {n}.",
                "solution": "s",
                "answer": gold,
                "subject": "Algebra",
                "level": 1,
                "unique_id": f"test/{n}",
            }
            for n, gold in enumerate((r"\frac{1}{2}", "p - q", "14"))
        ],
        answers={"Problem 0.": r"\boxed{0.5}", "Problem 1.": r"\boxed{q - p}", "Problem 2.": "no idea"},
        rewards=[1.0, 0.0, 0.0],
        failures=1,
    ),
    "mgsm": Case(
        rows=[
            {"question": f"{word} {n}?", "answer": None, "answer_number": 1200 + n, "config": language}
            for n, (language, word) in enumerate(
                (("de", "Frage"), ("bn", "প্রশ্ন"), ("en", "Question"), ("fr", "Question"))
            )
        ],
        answers={"Frage 0?": "Antwort: 1.200", "প্রশ্ন 1?": "উত্তর: ১২০১", "Question 2?": "Answer: 7", "Question 3?": "?"},
        rewards=[1.0, 1.0, 0.0, 0.0],
        failures=1,
    ),
    "triviaqa": Case(
        rows=[{"question": f"Question {n}", "question_id": f"q{n}", "answer": TRIVIA} for n in range(3)],
        answers={"Question 0": "The City of Light.", "Question 1": "Paris, France", "Question 2": "Rome"},
        rewards=[1.0, 0.0, 0.0],
        headline="exact_match",
        metrics={"f1": (1 + 2 / 3) / 3},
    ),
    "truthfulqa_gen": Case(
        rows=[{"question": f"Question {n}?", "incorrect_answers": ["Dogs would bite"], **TRUTH} for n in range(2)],
        answers={"Question 0?": "Nothing happens at all.", "Question 1?": "Dogs would bite."},
        rewards=[1.0, 0.0],
        headline="bleu_acc",
        metrics={"rouge1_diff": 0.0, "rougeL_acc": 0.5},
    ),
    "drop": Case(
        rows=[
            drop_row(0, number="16"),
            drop_row(1, spans=["Smith", "Jones"]),
            drop_row(2, date={"day": "2", "month": "May", "year": "1900"}),
            drop_row(3, number="4"),
        ],
        answers={
            "Question 0?": "9 + 7\nAnswer: 16",
            "Question 1?": "Answer: Smith",
            "Question 2?": "Answer: May 1900",
            "Question 3?": "Answer: 5",
        },
        rewards=[1.0, 0.5, 0.8, 0.0],
        headline="f1",
        metrics={"exact_match": 0.25},
    ),
    "squad_v2": Case(
        rows=[squad_row(0, "Denver"), squad_row(1), squad_row(2), squad_row(3, "Denver")],
        answers={
            "Question 0?": "Denver",
            "Question 1?": "Unanswerable.",
            "Question 2?": "1999",
            "Question 3?": "unanswerable",
        },
        rewards=[1.0, 1.0, 0.0, 0.0],
        headline="exact_match",
        metrics={"has_answer_f1": 0.5, "no_answer_f1": 0.5},
    ),
    "bbh": Case(
        rows=[
            {"input": "Item 0 is", "target": "False", "config": "boolean_expressions"},
            {"input": "Item 1?\nOptions:\n(A) x\n(B) y", "target": "(B)", "config": "date_understanding"},
            {"input": "List: item 2", "target": "apple bear", "config": "word_sorting"},
        ],
        answers={"Item 0": "So the answer is False.", "Item 1": "So the answer is (A).", "item 2": "First,\nthen"},
        rewards=[1.0, 0.0, 0.0],
        failures=1,
    ),
    "ifeval": Case(
        rows=[
            ifeval_row(0, "punctuation:no_comma"),
            ifeval_row(1, "punctuation:no_comma", "detectable_format:json_format", "startend:quotation"),
            ifeval_row(2, "detectable_format:number_bullet_lists", num_bullets=2),
            ifeval_row(3, "detectable_format:json_format"),
        ],
        answers={"Task 0.": "none", "Task 1.": '"none"', "Task 2.": "* one, two", "Task 3.": 'Sure!\n{"a": 1}'},
        rewards=[1.0, 1.0, 0.0, 0.0],
        headline="prompt_level_strict_acc",
        metrics={
            "prompt_level_loose_acc": 0.75,
            "inst_level_strict/pooled": 4 / 6,
            "inst_level_loose/pooled": 5 / 6,
        },
    ),
}


def run(tmp_path: Path, name: str, rows: list[dict[str, Any]], answers: dict[str, str]) -> Any:
    """Return the result of one benchmark; an answer is chosen by the text that stands last in the prompt."""

    def script(call: Call, _: int) -> Reply:
        found = max(answers, key=call.text.rfind)
        assert found in call.text
        return answer(answers[found])

    write_jsonl(tmp_path / "rows.jsonl", rows)
    with scripted(script, models=["m"]) as endpoint:
        return nel.evaluate(
            run_config(endpoint.url, [{"name": name, "dataset": str(tmp_path / "rows.jsonl")}], tmp_path / "out")
        )


@pytest.mark.parametrize("name", sorted(CASES))
def test_each_runs_end_to_end(tmp_path: Path, name: str) -> None:
    """Rewards, the headline's name, the other official metrics, and what was no answer at all."""
    case = CASES[name]
    result = run(tmp_path, name, case.rows, case.answers)
    assert result.exit_code == 0
    lines = read_results(result.run_dir, name)
    assert [line["reward"] for line in lines] == pytest.approx(case.rewards)
    found = read_json(result.run_dir / name / "metrics.json")
    assert found["headline"]["metric"] == case.headline == find_benchmark(name).card.metric  # type: ignore[union-attr]
    values = {metric["name"]: metric["value"] for metric in found["metrics"]}
    assert {key: values[key] for key in case.metrics} == pytest.approx(case.metrics)
    accounting = found["accounting"]
    assert accounting["n_model_failure"] == case.failures
    assert accounting["n_unscored"] == 0


@pytest.mark.parametrize("name", ["wmt14_de_en", "wmt14_en_fr", "wmt24pp", "flores_into_english"])
def test_translations_have_corpus_metrics(tmp_path: Path, name: str) -> None:
    """A perfect and a poor translation: the corpus metrics stand beside the mean of sentences."""
    pair = {"wmt24pp": "en-de_DE", "flores_into_english": "deu_Latn-eng_Latn"}.get(name)
    texts = [("Quelle 0 hier.", "The first sentence is here."), ("Quelle 1 hier.", "A second sentence follows it.")]
    if pair is None:
        _, source, target = name.split("_")
        rows: list[dict[str, Any]] = [{"translation": {source: ours, target: theirs}} for ours, theirs in texts]
    else:
        rows = [
            {"id": str(n), "pair": pair, "lp": pair, "source": ours, "target": theirs, "document_id": "d"}
            for n, (ours, theirs) in enumerate(texts)
        ]
    result = run(tmp_path, name, rows, {"Quelle 0": texts[0][1], "Quelle 1": "It follows."})
    assert result.exit_code == 0
    found = read_json(result.run_dir / name / "metrics.json")
    values = {metric["name"]: metric["value"] for metric in found["metrics"]}
    assert found["headline"]["metric"] == "chrf"
    assert len(values) == len(found["metrics"])
    assert 30 < values[f"corpus_chrf_pp{'' if pair is None else '_by_pair/mean'}"] < 99
    official = find_benchmark(name).card.metric  # type: ignore[union-attr]
    assert 30 < values[official] < 99
    if pair is not None:
        assert values[f"corpus_chrf_by_pair/{pair}"] == values["corpus_chrf_by_pair/mean"]


def physicians_row(idx: int) -> dict[str, Any]:
    """Return a row of HealthBench's shape."""
    return {
        "prompt_id": f"p{idx}",
        "prompt": [
            {"role": "user", "content": "My head hurts."},
            {"role": "assistant", "content": "Since when?"},
            {"role": "user", "content": f"Day {idx}."},
        ],
        "rubrics": [
            {"criterion": "Asks for fever", "points": 5, "tags": []},
            {"criterion": "Names a drug", "points": -8, "tags": []},
        ],
        "example_tags": ["theme:context_seeking"],
    }


@dataclass
class Judged:
    """Rows, and what the judge says of each; the model's answer holds the number of the row."""

    rows: list[dict[str, Any]]
    verdicts: Callable[[str], str]
    """From the prompt to the judge to its reply."""
    rewards: list[float | None]
    metrics: dict[str, float]
    shown: str
    """Stands in what the judge is asked."""


SAID = {"Answer 0": "CORRECT", "Answer 1": "INCORRECT", "Answer 2": "NOT_ATTEMPTED", "Answer 3": "CORRECT"}
TOOK = {"Answer 0": "COMPLIES", "Answer 1": "PARTIAL", "Answer 2": "REFUSES", "Answer 3": "PARTIAL"}
TYPES = {"homonyms": "safe", "privacy_public": "safe", "contrast_homonyms": "unsafe", "contrast_privacy": "unsafe"}


def graded(said: dict[str, str]) -> Callable[[str], str]:
    return lambda prompt: f"My reasons.\nGRADE: {next(grade for text, grade in said.items() if text in prompt)}"


def met(prompt: str) -> str:
    """Say that answer 0 asks for fever, 1 names a drug too, 2 only names a drug."""
    is_met = ("fever" in prompt and "Answer 2" not in prompt) or ("drug" in prompt and "Answer 0" not in prompt)
    return json.dumps({"explanation": "As it is.", "criteria_met": is_met})


JUDGED: dict[str, Judged] = {
    "simpleqa": Judged(
        [{"problem": f"Who {n}?", "answer": "Ada", "metadata": "{}"} for n in range(4)],
        graded(SAID),
        [1.0, 0.0, 0.0, 1.0],
        {
            "accuracy": 0.5,
            "incorrect": 0.25,
            "not_attempted": 0.25,
            "correct_given_attempted": 2 / 3,
            "f_score": 4 / 7,
        },
        "Ada",
    ),
    "xstest": Judged(
        [{"id": n, "prompt": f"How {n}?", "type": one, "label": TYPES[one]} for n, one in enumerate(TYPES)],
        graded(TOOK),
        [1.0, 0.0, 1.0, 1.0],
        {"accuracy": 0.75, "grouped/safe": 0.5, "grouped/unsafe": 1.0},
        "How 0?",
    ),
    "healthbench": Judged(
        [physicians_row(n) for n in range(3)], met, [1.0, -0.6, -1.6], {"points/clipped_mean": 0.0}, "Since when?"
    ),
}


def judged(tmp_path: Path, name: str) -> tuple[Any, list[Call]]:
    """Return the result of a judged benchmark, and what the judge was asked."""
    case = JUDGED[name]
    write_jsonl(tmp_path / "rows.jsonl", case.rows)

    def model(call: Call, _: int) -> Reply:
        return answer(f"Answer {re.findall(r'[0-9]+', call.text)[-1]}")

    def judge(call: Call, _: int) -> Reply:
        return answer(case.verdicts(call.text))

    with scripted(model, models=["m"]) as endpoint, scripted(judge) as other:
        entry = {"name": name, "dataset": str(tmp_path / "rows.jsonl")}
        settings = run_config(endpoint.url, [entry], tmp_path / "out", judge={"url": other.url, "model": "j"})
        return nel.evaluate(settings), other.calls


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_what_a_judge_decides(tmp_path: Path, name: str) -> None:
    """The judge is shown what it needs, and its verdicts become the official numbers."""
    case = JUDGED[name]
    result, calls = judged(tmp_path, name)
    assert result.exit_code == 0
    rows = read_results(result.run_dir, name)
    assert all(row["scoring_details"]["judgements"][0]["grade"] is not None for row in rows)
    assert [row["reward"] for row in rows] == case.rewards
    found = read_json(result.run_dir / name / "metrics.json")
    values = {metric["name"]: metric["value"] for metric in found["metrics"]}
    assert {key: values[key] for key in case.metrics} == pytest.approx(case.metrics)
    assert find_benchmark(name).card.metric in values  # type: ignore[union-attr]
    assert any(case.shown in call.text for call in calls)


def test_a_conversation_is_sent_whole(tmp_path: Path) -> None:
    """HealthBench's turns reach the endpoint as they are, and its theme is the breakdown."""
    row = physicians_row(0)
    turns = row["prompt"]
    sample = find_benchmark("healthbench").sample({**row, "prompt": turns}, sample_id="p1")
    assert [(message.role, message.content) for message in sample.input] == [  # type: ignore[union-attr]
        (turn["role"], turn["content"]) for turn in turns
    ]
    assert sample.subset == "context_seeking"
