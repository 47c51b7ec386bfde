"""Made-up rows for adapters of the published EvalScope that are judged, and what their judge replies.

The judge is a pure function of its prompt, so that two tools which ask the same get the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any, Final

from published_rows import PICTURE, Published, Row, case, rows

REPLIES: Final = ("So it is.\n\\boxed{12}", "Therefore, the answer is Paris.", "Paris, or B.", "")
"""Said of every row; nel asks no judge about an empty answer."""
_ENCODED: Final = "iVBORw0KGgowMDAw"


def _asked(question: str, answer: str, **more: Any) -> Callable[[int], Row]:
    """Return rows of a question, its answer and what else the adapter reads."""
    return lambda number: {
        question: f"Which city has no. {number}?",
        answer: ("Paris", "12")[number % 2],
        **{name: value(number) if callable(value) else value for name, value in more.items()},
    }


def _rubric(number: int) -> list[Row]:
    return [
        {"criterion": f"names {name}, {number}", "points": points, "tags": [f"axis:{axis}"]}
        for name, points, axis in (("it", 5, "accuracy"), ("why", 3, "completeness"), ("more", -2, "accuracy"))
    ]  # fmt: skip


def _weighted(number: int) -> list[Row]:
    return [
        {"rubric_number": place, "rubric_detail": f"tells {place}, {number}", "rubric_weight": weight}
        for place, weight in ((1, 6), (2, 3), (3, -4))
    ]  # fmt: skip


def _filled(number: int) -> Row:
    """Return a choice, which is not judged, or blanks to fill in."""
    kinds = ("multiple-choice", "fill-in-the-blank")
    return {
        "type": kinds[number % 2], "question_info": f"何 {number}?", "options": ["rot", "blau"], "subject": "math",
        "answer": ["B"] if number % 2 == 0 else ["12", "7"], "sub_questions": ["第一?", "第二?"], "image": PICTURE,
        "grade_band": "high", "difficulty": "easy", "split": "val", "solution_info": "", "id": str(number),
    }  # fmt: skip


def _legal(number: int) -> Row:
    kinds = ("case_analysis", "legal_qa", "document_generation")
    sections = [{"tags": "结论得分", "points": 4}, {"tags": "法条依据得分", "points": 6}]
    return {
        "id": str(number), "task": "case_analysis", "judge_type": kinds[number % 3], "category": "x",
        "context": f"Deal {number}.", "question": f"So {number}?", "max_points": 10,
        "rubrics": json.dumps(sections) if number % 3 == 0 else "Names the law.",
    }  # fmt: skip


def _remembered(number: int) -> Row:
    return {
        "question_id": f"q{number}" + ("_abs" if number == 2 else ""), "question": f"Where was no. {number}?",
        "question_type": ("multi-session", "temporal-reasoning", "knowledge-update")[number],
        "answer": "Paris", "question_date": "2023/05/01", "answer_session_ids": ["s1"], "haystack_dates": ["2023/04/01"],
        "haystack_session_ids": ["s1"], "haystack_sessions": [[{"role": "user", "content": "I was in Paris."}]],
    }  # fmt: skip


def _chart(number: int) -> Row:
    descriptive = {f"descriptive_q{place}": place + number for place in (1, 2, 3, 4)}
    answers = {f"descriptive_a{place}": str(place) for place in (1, 2, 3, 4)}
    return {
        "image": PICTURE, **descriptive, **answers, "subplot_loc": None, "category": "cs", "original_id": str(number),
        "reasoning_q": f"How many, {number}?", "reasoning_a": "12", "reasoning_a_type": 3 + number % 2,
    }  # fmt: skip


def _followed(number: int) -> Row:
    components = ["names it", "in ten words", "in rhymes"][: number + 1]
    return {
        "image": PICTURE, "instruction": f"Describe no. {number}.", "type": "basic", "components": components,
        "num_of_component": len(components), "component_weight": [4, 3, 3][: number + 1],
        "component_type": ["describe", "length_limit", "linguistics"][: number + 1],
    }  # fmt: skip


JUDGED: Final = (
    case("aa_lcr", _asked("question", "answer", document_category="none", document_set_id="none", data_source_urls="u"),
         extra_params={"text_dir": "."}),
    case("aime24", _asked("problem", "answer"), file="aime/aime_adapter.py"),
    case("chinese_simpleqa", _asked("question", "answer", primary_category="生活、艺术与文化", id=str), "train",
         file="chinese_simple_qa/csimple_qa_adapter.py"),
    case("cl_bench", lambda n: {"messages": [{"role": "system", "content": "Be brief."},
                                             {"role": "user", "content": f"Say {n}."}],
                                "rubrics": [f"says {n}", "is brief"], "metadata": {"task_id": str(n)}}, "train"),
    case("docmath", lambda n: {"question": f"What does no. {n} cost?", "paragraphs": [f"It cost {n}.", "No more."],
                               "ground_truth": (12, 7)[n % 2], "question_id": str(n)}, "simpshort_testmini",
         subset_list=["simpshort_testmini"]),
    case("frames", _asked("Prompt", "Answer", wiki_items=[{"title": "France", "text": "Paris."}]), "test", "test"),
    case("health_bench", lambda n: {"prompt": [{"role": "user", "content": f"Is it ill, {n}?"}], "rubrics": _rubric(n),
                                    "example_tags": ["theme:hedging"], "prompt_id": str(n)}, "test",
         "consensus_2025-05-09-20-00-46", file="healthbench/healthbench_adapter.py"),
    case("hle", _asked("question", "answer", answer_type=lambda n: ("exactMatch", "multipleChoice")[n % 2], image="",
                       category="Math", id=str, author_name="x", rationale="so", raw_subject="Math")),
    Published(name="longmemeval", file="longmemeval/longmemeval_adapter.py", data={},
              files={"longmemeval_s_cleaned.json": rows(_remembered)}),
    case("one_million_bench", lambda n: {"question": f"Advise, {n}.", "rubrics": _weighted(n), "language": "global",
                                         "tags": {"topics": ["Law"], "time_sensitivity": "no"}, "id": str(n),
                                         "case_id": str(n), "system_prompt": ("Be brief.", "")[n % 2]}),
    case("plawbench", _legal, "test", "case_analysis", subset_list=["case_analysis"]),
    case("simple_qa", _asked("problem", "answer", metadata="{'topic': 'x'}")),
    # Pictures
    case("charxiv", _chart, "validation"),
    case("cmmu", _filled, "val", subset_list=["math"]),
    case("mia_bench", _followed),
    case("perception_bench", lambda n: {"problem": f"See <|image_1|>: {n}?", "answer": ("12", "B")[n % 2],
                                        "image": [f"data:image/png;base64,{_ENCODED}"], "hint": ("", "In pixels.")[n % 2],
                                        "error_category": "ocr_error", "index": n}, "train"),
    case("simple_vqa", _asked("question", "answer", image=_ENCODED, data_id=str, image_description="d", language="en",
                              original_category="x", source="s", atomic_question="a", atomic_fact="f")),
)  # fmt: skip

_IN_OWN_WORDS: Final[tuple[tuple[str, tuple[Any, ...]], ...]] = (
    ('"criteria_met"', ({"explanation": "so", "criteria_met": True}, {"criteria_met": False})),
    ('"score_T1"', ({"extract_answer_T1": "x", "score_T1": 1}, {"score_T1": 0}, {"score_T1": 2})),
    ('["extract_answer", "score"]', ({"extract_answer": "x", "score": 1}, {"score": 0}, {"score": "1"})),
    ('"correct":', ({"analysis": "", "correct": 1}, {"correct": 0.5}, {"correct": 1.5})),
    ('"score_details"', ({"score_details": {"结论": {"total_points": 3}, "法条依据": {"total_points": 9.5}}},
                         {"score_details": {"结论": {"total_points": 0}, "法条依据": {"total_points": 2}}})),
    ('"total_points": 模型得分', ({"total_points": 7, "max_points": 10}, {"total_points": "4.5"}, {"total_points": -1})),
    ('"results"', tuple({"results": [{"rubric_id": place, "status": status, "justification": "so"}
                                     for place, status in enumerate(statuses, 1)]}
                        for statuses in ("是是是", "否是否", "是否否", "是是"))),
)  # fmt: skip
"""What a prompt says that does not name its keys line by line, and objects that answer it."""


def _value(kind: str, number: int) -> Any:
    """Return a value of the kind that a prompt asks for; some are beyond its bounds."""
    if labels := re.findall(r'"([^"]*)"', kind):
        return [*labels, labels[0].lower() + "?"][number % (len(labels) + 1)]
    if bounds := re.findall(r"[<>]= ([\d.]+)", kind):
        low, high = map(float, bounds)
        return (low, high, (low + high) / 2, high + 1)[number % 4]
    return {"true or false": bool(number % 2), "a list": ["yes", "no"]}.get(kind, "it is {so}")


def _verdict(prompt: str, number: int) -> Any:
    for words, objects in _IN_OWN_WORDS:
        if words in prompt:
            return objects[number % len(objects)]
    keys = re.findall(r'(?m)^- "([^"]*)": (.*)$', prompt.rpartition("these required keys")[2])
    return {key: _value(kind, number) for key, kind in keys}


def verdict_of(prompt: str) -> str:
    """Return what the judge replies to a prompt: a verdict in one of the forms that judges write."""
    digest = hashlib.sha256(prompt.encode()).digest()
    verdict = json.dumps(_verdict(prompt, digest[0]), ensure_ascii=False)
    other = json.dumps(_verdict(prompt, digest[0] + 1), ensure_ascii=False)
    forms = (
        verdict,
        verdict,
        json.dumps(json.loads(verdict), indent=2),
        f"```json\n{verdict}\n```",
        f"The answer names it.\n\n{verdict}\n",
        f"<think>\nIs it right? It is.\n</think>\n\n{verdict}",
        f"First {other}, but then:\n{verdict}",
        f"My verdict: {verdict}",
        f"{verdict}\n{other}",
        "I cannot say.",
        verdict[:-1],
    )
    return forms[digest[1] % len(forms)]
