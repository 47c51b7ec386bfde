"""Tasks of inspect_evals as they are published, over made-up rows: records, prompts, solvers and scorers are theirs.

``datasets.load_dataset`` gives the rows, so that a task's own `record_to_sample`, shuffling and filters run. Loaded by
Inspect and by nel alike: ``published_tasks.py@published?name=arc_easy``.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task, task

Row = dict[str, Any]


def _options(number: int, count: int = 4) -> list[str]:
    return [f"{name} {number}" for name in ("red", "blue", "green", "grey", "white")[:count]]


def _letter(number: int) -> str:
    return "ABCD"[number % 4]


def _question(number: int) -> str:
    return f"What is no. {number}?"


def _arc(number: int) -> Row:
    labels = list("ABCD" if number % 2 else "1234")
    choices = {"label": labels, "text": _options(number)}
    return {
        "id": f"q{number}",
        "question": _question(number),
        "choices": choices,
        "answerKey": labels[number % 4],
    }


def _commonsense(number: int) -> Row:
    choices = {"label": list("ABCDE"), "text": _options(number, 5)}
    return {
        "id": f"q{number}", "question": _question(number), "choices": choices, "answerKey": "ABCDE"[number % 5],
        "question_concept": "so",
    }  # fmt: skip


def _pubmed(number: int) -> Row:
    import inspect_evals.pubmedqa  # noqa: PLC0415 - the ids of its test split are beside it

    known = json.loads(
        (
            Path(inspect_evals.pubmedqa.__file__).parent / "data" / "test_ground_truth.json"
        ).read_text()
    )
    decision = ("yes", "no", "maybe")[number % 3]
    return {
        "pubid": int(list(known)[number]), "question": _question(number), "context": {"contexts": [f"Trial {number}."]},
        "final_decision": decision, "long_answer": "so",
    }  # fmt: skip


def _truthful(number: int) -> Row:
    one = [int(place == number % 4) for place in range(4)]
    several = [int(place in (number % 4, 3)) for place in range(4)]
    return {
        "question": f"Is it so, {number}?",
        "mc1_targets": {"choices": _options(number), "labels": one},
        "mc2_targets": {"choices": _options(number), "labels": several},
    }


def _pro(number: int) -> Row:
    return {
        "question": _question(number), "options": _options(number), "answer": _letter(number), "question_id": number,
        "category": "Law", "cot_content": f"A: Think. The answer is ({_letter(number)}).",
    }  # fmt: skip


def _mmlu(number: int) -> Row:
    return {
        "question": _question(number),
        "choices": _options(number),
        "answer": number % 4,
        "subject": "anatomy",
    }


def _sec(number: int) -> Row:
    options = dict(zip("ABCD", _options(number), strict=True))
    return {
        "Question": _question(number),
        "Answer": _letter(number),
        "Explanation": "so",
        **options,
    }


def _bbh(subset: str, *targets: str) -> tuple[str, str, dict[str, Any], Callable[[int], Row]]:
    """Return a subset of bbh, whose rows say by an enumeration how they are asked and scored."""

    def row(number: int) -> Row:
        return {
            "question": _question(number), "choices": {"text": _options(number)}, "dataset_name": subset,
            "target": targets[number % len(targets)], "answer_only_prompt": f"Answer as {subset} wants.",
        }  # fmt: skip

    return "bbh", "bbh", {"subset_name": subset}, row


PUBLISHED: Final[dict[str, tuple[str, str, dict[str, Any], Callable[[int], Row]]]] = {
    "arc_easy": ("arc", "arc_easy", {}, _arc),
    "arc_challenge": ("arc", "arc_challenge", {}, _arc),
    "bbh_choice": _bbh("date_understanding", "A", "B", "C", "D"),
    "bbh_binary": _bbh("navigate", "Yes", "No"),
    "bbh_match": _bbh("object_counting", "12", "7"),
    "bbh_dyck": _bbh("dyck_languages", "A", "7"),
    "boolq": ("boolq", "boolq", {"shuffle": False}, lambda n: {
        "passage": f"Page {n}.", "question": f"so, {n}", "answer": n % 2 == 0}),
    "commonsense_qa": ("commonsense_qa", "commonsense_qa", {"shuffle": False}, _commonsense),
    "hellaswag": ("hellaswag", "hellaswag", {}, lambda n: {
        "ctx": f"He {n}", "source_id": f"s{n}", "label": str(n % 4), "endings": _options(n)}),
    "pubmedqa": ("pubmedqa", "pubmedqa", {}, _pubmed),
    "race_h": ("race_h", "race_h", {"shuffle": False}, lambda n: {
        "article": f"Text {n // 2}.", "question": _question(n), "answer": _letter(n), "options": _options(n)}),
    "truthfulqa_mc1": ("truthfulqa", "truthfulqa", {"target": "mc1"}, _truthful),
    "truthfulqa_mc2": ("truthfulqa", "truthfulqa", {"target": "mc2"}, _truthful),
    "winogrande": ("winogrande", "winogrande", {"fewshot": 3}, lambda n: {
        "sentence": f"The _ {n}", "option1": "cup", "option2": "table", "answer": str(n % 2 + 1)}),
    "paws": ("paws", "paws", {"shuffle": False}, lambda n: {
        "id": n, "sentence1": f"So {n}", "sentence2": "Thus", "label": n % 2}),
    "mmlu_0_shot": ("mmlu", "mmlu_0_shot", {"shuffle": False}, _mmlu),
    "mmlu_0_shot_cot": ("mmlu", "mmlu_0_shot", {"shuffle": False, "cot": True}, _mmlu),
    "mmlu_5_shot": ("mmlu", "mmlu_5_shot", {"shuffle": False}, _mmlu),
    "mmlu_pro": ("mmlu_pro", "mmlu_pro", {"shuffle": False}, _pro),
    "mmlu_pro_shots": ("mmlu_pro", "mmlu_pro", {"shuffle": False, "fewshot": 2}, _pro),
    "gsm8k": ("gsm8k", "gsm8k", {"fewshot": 2}, lambda n: {
        "question": f"Add {n} and 12.", "answer": f"It is so.\n#### {(12, 7, 1200)[n % 3]}"}),
    "gsm8k_alone": ("gsm8k", "gsm8k", {"fewshot": 0}, lambda n: {
        "question": f"Add {n} and 12.", "answer": f"It is so.\n#### {(12, 7, 1200)[n % 3]}"}),
    "wmdp_bio": ("wmdp", "wmdp_bio", {}, _mmlu),
    "wmdp_chem": ("wmdp", "wmdp_chem", {}, _mmlu),
    "wmdp_cyber": ("wmdp", "wmdp_cyber", {}, _mmlu),
    "sec_qa_v1": ("sec_qa", "sec_qa_v1", {}, _sec),
    "sec_qa_v2_5_shot": ("sec_qa", "sec_qa_v2_5_shot", {}, _sec),
    "musr": ("musr", "musr", {"shuffle": False}, lambda n: {
        "narrative": f"Night {n}.", "question": _question(n), "choices": str(_options(n)), "answer_index": n % 4}),
    "musr_cot": ("musr", "musr", {"shuffle": False, "prompt_technique": "cot+", "example_count": 1}, lambda n: {
        "narrative": f"Night {n}.", "question": _question(n), "choices": str(_options(n)), "answer_index": n % 4}),
    "squad": ("squad", "squad", {"shuffle": False}, lambda n: {
        "id": f"s{n}", "context": f"Page {n // 2}.", "question": _question(n), "title": "t",
        "answers": {"text": [["Paris"], ["12", "twelve"], []][n % 3], "answer_start": [[0], [0, 1], []][n % 3]}}),
    "aime2024": ("aime2024", "aime2024", {}, lambda n: {
        "ID": f"2024-{n}", "Problem": f"Count to {n}.", "Answer": (12, 7, 204)[n % 3], "Solution": "so"}),
}  # fmt: skip
"""By name: the package, its task, the arguments, and a row of its dataset."""


@task
def published(name: str) -> Task:
    """Return a published task over eight rows."""
    import datasets  # noqa: PLC0415 - inspect_evals brings it

    package, function, arguments, make = PUBLISHED[name]
    real, datasets.load_dataset = (
        datasets.load_dataset,
        lambda *_, **__: datasets.Dataset.from_list([make(number) for number in range(8)]),
    )
    try:
        found: Task = getattr(importlib.import_module(f"inspect_evals.{package}"), function)(
            **arguments
        )
    finally:
        datasets.load_dataset = real
    return found


_TOOLS = [
    {
        "name": "weather.now", "description": "Say the weather of a city.",
        "parameters": {
            "type": "dict", "required": ["city"],
            "properties": {
                "city": {"type": "string", "description": "The city."},
                "unit": {"type": "string", "enum": ["C", "F"], "description": "Of the temperature."},
            },
        },
    },
    {
        "name": "add_up", "description": "Add numbers.",
        "parameters": {
            "type": "dict", "required": ["numbers"],
            "properties": {"numbers": {"type": "array", "items": {"type": "integer"}, "description": "In order."}},
        },
    },
]  # fmt: skip
_WEATHER = {"weather.now": {"city": ["Paris", "paris"], "unit": ["C", ""]}}
_SUM = {"add_up": {"numbers": [[1, 2]]}}
_CALLED = (
    ("simple_python", "How is the weather in Paris?", _TOOLS[:1], [_WEATHER]),
    ("simple_python", "What is 1 plus 2?", _TOOLS[1:], [_SUM]),
    ("multiple", "Add 1 and 2 for me.", _TOOLS, [_SUM]),
    ("multiple", "Is it warm in Paris?", _TOOLS, [_WEATHER]),
    ("parallel", "Weather in Paris, and 1 plus 2?", _TOOLS, [_WEATHER, _SUM]),
    ("parallel", "1 plus 2, and Paris' weather?", _TOOLS, [_WEATHER, _SUM]),
    ("irrelevance", "Who wrote Hamlet?", _TOOLS, []),
    ("irrelevance", "Who wrote Faust?", _TOOLS, []),
)


@task
def called() -> Task:
    """Return the Berkeley function calling leaderboard over eight questions of one turn."""
    bfcl = importlib.import_module("inspect_evals.bfcl.bfcl")
    from inspect_evals.bfcl.data import BFCLRecord  # noqa: PLC0415

    records = [
        BFCLRecord(
            id=f"{category}_{number}", category_name=category, question=[[{"role": "user", "content": asked}]],
            function=tools, ground_truth=truth, turns=1,
        )
        for number, (category, asked, tools, truth) in enumerate(_CALLED)
    ]  # fmt: skip
    samples = [bfcl.single_turn_record_to_sample(record) for record in records]
    return Task(dataset=samples, solver=bfcl.bfcl_solver(), scorer=bfcl.bfcl_scorer())


@task
def submitted() -> Task:
    """Return SimpleQA over eight questions: its grader submits a grade by a tool."""
    from inspect_ai.dataset import Sample  # noqa: PLC0415 - heavy
    from inspect_evals.simpleqa.scorer import simpleqa_schema_tool_scorer  # noqa: PLC0415
    from inspect_evals.simpleqa.simpleqa import SIMPLEQA_GRADER_TEMPLATE  # noqa: PLC0415

    samples = [
        Sample(id=f"q{number}", input=_question(number), target=f"red {number}")
        for number in range(8)
    ]
    return Task(
        dataset=samples,
        scorer=simpleqa_schema_tool_scorer(grader_template=SIMPLEQA_GRADER_TEMPLATE),
    )
