"""Made-up rows for adapters of the published EvalScope, in each adapter's own record format.

Options and right answers differ from row to row, so that a letter that is right in one is wrong in the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[str, Any]
Subsets: TypeAlias = dict[str, dict[str, list[Row]]]
_ENCODED: Final = "iVBORw0KGgowMDAw"
PICTURE: Final = {"bytes": b"\x89PNG\r\n\x1a\n0000", "path": None}
REPLIES: Final = (
    "ANSWER: A",
    "ANSWER: B",
    "Well.\n**Answer: (C)**",
    "ANSWER: D",
    "answer: b",
    "I would say C",
    "ANSWER: A and B",
    "ANSWER: A,C",
    "ANSWER: [LETTER]\nSo it is B, not C.",
    "答案：B",
    "答案：A、C",
    "so [B]",
    "",
    "   ",
    "\\boxed{12}",
    "First 7, then $\\boxed{\\frac{1}{2}}$.",
    "The total is $1,200.50 in all",
    "ANSWER: 12",
    "12",
    "0.5",
    "\\boxed{7} or \\boxed{12}",
    "Yes",
    "no.",
    "YES and NO",
    "Maybe",
    "ANSWER: Yes",
    "ANSWER: Paris",
    "the paris, of course",
    "Ｂ",
    "x = \\boxed{x^2+1}",
    "Then <gene>p53</gene> meets <person>Ann</person> .",
    "Answer: 12\nScale: million",
)
"""Said of every row: right and wrong, in other forms, and nothing at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One published adapter with its rows."""

    name: str
    file: str
    """Below ``evalscope/benchmarks``."""
    data: Subsets
    arguments: dict[str, Any] = field(default_factory=dict)
    """What a user gives as `dataset_args`."""
    files: dict[str, Any] = field(default_factory=dict)
    """JSON files that the adapter reads by their names."""

    @property
    def holds_bytes(self) -> bool:
        """Return whether a row holds a picture, which JSON cannot."""
        return "PNG" in repr(self.data)


def choice_row(number: int, **more: Any) -> Row:
    """Return a question with four options, in the format that most adapters read."""
    options = [f"{colour} {number}" for colour in ("red", "blue", "green", "grey")]
    return {
        "question": f"What is no. {number}?",
        "choices": options,
        "answer": "ABCD"[number % 4],
        **more,
    }


def rows(make: Callable[[int], Row], count: int = 3, start: int = 0) -> list[Row]:
    """Return so many rows."""
    return [make(number) for number in range(start, start + count)]


def plain(
    name: str, split: str = "test", *, subset: str = "default", file: str = "", **more: Any
) -> Published:
    """Return an adapter of questions, options and a letter."""
    data = {subset: {split: rows(lambda number: choice_row(number, **more))}}
    return Published(name=name, file=file or f"{name}/{name}_adapter.py", data=data)


def case(
    name: str, make: Callable[[int], Row], split: str = "test", subset: str = "default", **more: Any
) -> Published:
    """Return an adapter of one subset."""
    file = more.pop("file", f"{name}/{name}_adapter.py")
    return Published(name=name, file=file, data={subset: {split: rows(make)}}, arguments=more)


def several(
    name: str, subsets: list[str], make: Callable[[int], Row], split: str = "test", **more: Any
) -> Published:
    """Return an adapter of several subsets, and those alone."""
    file = more.pop("file", f"{name}/{name}_adapter.py")
    data = {subset: {split: rows(make, 2, 2 * place)} for place, subset in enumerate(subsets)}
    arguments = {"subset_list": subsets, **more}
    return Published(name=name, file=file, data=data, arguments=arguments)


def _lettered(number: int) -> Row:
    options = {letter: f"{letter.lower()} {number}" for letter in "ABCD"}
    return {"question": f"What is no. {number}?", "answer": "ABCD"[number % 4], **options}


def _keyed(
    keys: str, question: str, target: str, targets: list[str], **more: Any
) -> Callable[[int], Row]:
    names = keys.split()
    return lambda number: {
        question: f"What is no. {number}?",
        **{name: f"{name} {number}" for name in names},
        target: targets[number % len(targets)],
        **more,
    }


def _math(
    question: str, target: str, targets: tuple[str, ...] = ("12", "7", "0.5"), **more: Any
) -> Callable[[int], Row]:
    return lambda number: {
        question: f"Count to {number}.",
        target: targets[number % len(targets)],
        **more,
    }


def _word_problem(number: int) -> Row:
    return {
        "question": f"Add {number} and 12.",
        "answer": f"It is so.\n#### {(12, 7, 1200)[number % 3]}",
    }


def _yes_no(number: int) -> Row:
    return {"question": f"Is it {number}?", "answer": ("yes", "no")[number % 2], "image": None}


def _stated(label: str, **more: Any) -> Callable[[int], Row]:
    return lambda number: {**choice_row(number), **more, label: number % 4}


def _arc(number: int) -> Row:
    texts = [f"{word} {number}" for word in ("sun", "moon", "star", "rock")]
    key = ("B", "3", "A")[number % 3]
    return {
        "id": str(number),
        "question": f"Which one, {number}?",
        "answerKey": key,
        "choices": {"text": texts},
    }


def _redux(number: int) -> Row:
    kinds = (
        ("ok", ""),
        ("wrong_groundtruth", "2"),
        ("multiple_correct_answers", "A,C"),
        ("no_correct_answer", "none"),
    )
    kind, correct = kinds[number % 4]
    row = choice_row(number)
    return {
        **row,
        "answer": str(number % 4),
        "error_type": kind,
        "correct_answer": correct,
        "potential_reason": "",
    }


def _pro(number: int) -> Row:
    row = choice_row(number)
    thought = f"A: Think. The answer is ({row['answer']})."
    category = ("law", "math")[number % 2]
    return {
        "question": row["question"], "options": row["choices"], "answer": row["answer"], "category": category,
        "cot_content": thought, "question_id": number,
    }  # fmt: skip


def _truthful(number: int) -> Row:
    labels = [int(place == number % 4) for place in range(4)]
    several = [int(place in (number % 4, 3)) for place in range(4)]
    texts = choice_row(number)["choices"]
    return {
        "question": f"Is it so, {number}?",
        "mc1_targets": {"choices": texts, "labels": labels},
        "mc2_targets": {"choices": texts, "labels": several},
    }


def _trivia(number: int) -> Row:
    names = (["Paris", "Paname"], ["12", "Twelve"], ["Rome"])[number % 3]
    answer = {"aliases": names, "normalized_aliases": [name.lower() for name in names]}
    return {
        "question": f"Where, {number}?", "question_id": str(number), "answer": answer,
        "entity_pages": {"wiki_context": f"Page {number}."},
    }  # fmt: skip


def _instructed(number: int) -> Row:
    """One or three instructions, of those that need no data of NLTK."""
    rules: list[tuple[str, Row]] = [
        ("punctuation:no_comma", {"keywords": None}),
        ("keywords:existence", {"keywords": ["answer"]}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": 2}),
    ]
    chosen = rules if number else rules[:1]
    return {
        "key": number,
        "prompt": f"Answer {number} without commas.",
        "instruction_id_list": [name for name, _ in chosen],
        "kwargs": [dict(parameters) for _, parameters in chosen],
    }


def _hallusion(number: int) -> Row:
    return {
        "question": f"Is {number} shown?", "gt_answer": str(number % 2), "category": ("VS", "VD")[number // 2 % 2],
        "subcategory": "chart", "set_id": "0", "figure_id": str(number % 2), "question_id": str(number),
        "image": PICTURE, "visual_input": "1", "gt_answer_details": "",
    }  # fmt: skip


def _drivel(number: int) -> Row:
    return {"text": f"Deep {number}.", "label": ("drivelology", "non-drivelology")[number % 2]}


def _labels(number: int) -> Row:
    return {
        "text": f"Deep {number}.",
        "label": (["inversion"], ["wordplay"], ["inversion", "switchbait"])[number % 3],
    }


def _pubmed(number: int) -> Row:
    return {
        "question": f"Does {number} help?", "context": f"Trial {number}.", "answer": ("yes", "no", "maybe")[number % 3],
        "reasoning": "",
    }  # fmt: skip


def _pictured(**more: Any) -> Callable[[int], Row]:
    return lambda number: {
        key: value(number) if callable(value) else value
        for key, value in {"image": PICTURE, **more}.items()
    }


def _question(number: int) -> str:
    return f"What is no. {number}?"


def _letter(number: int) -> str:
    return "ABCD"[number % 4]


def _options(number: int) -> list[str]:
    return list(choice_row(number)["choices"])


def _shots(published: Published, split: str, make: Callable[[int], Row], count: int) -> Published:
    """Give a benchmark examples, more than it shows, of each of its kinds."""
    for splits in published.data.values():
        splits[split] = rows(make, 2 * count + 1, 50)
    published.arguments["few_shot_num"] = count
    return published


def _exam(subset: str, count: int = 2) -> Callable[[int], Row]:
    labels = {
        "math": ("12", "7"),
        "gaokao-mathcloze": ("7", "x^2+1"),
        "jec-qa-kd": ("['A', 'C']", "['B']"),
    }
    return lambda number: {
        "question": _question(number), "passage": f"Page {number}." if number % 2 else None,
        "options": [f"({letter}){letter.lower()}{number}" for letter in "ABCD"],
        "label": labels.get(subset, ("B", "C"))[number % count],
    }  # fmt: skip


def _exams(*subsets: str) -> Published:
    data = {subset: {"test": rows(_exam(subset), 2)} for subset in subsets}
    arguments = {"subset_list": list(subsets)}
    return Published(
        name="agieval", file="agieval/agieval_adapter.py", data=data, arguments=arguments
    )


def _vista(number: int) -> Row:
    kinds = ("multi_choice", "free_form")
    options = _options(number)
    return {
        "question": _question(number), "question_type": kinds[number % 2], "decoded_image": PICTURE,
        "choices": options, "answer": options[1] if number % 2 == 0 else "12", "answer_type": "text",
        "precision": 1.0, "metadata": {"category": "general"},
    }  # fmt: skip


def _tagged(tag: str) -> Callable[[int], Row]:
    texts = ("Then p53 meets Ann .", "So Ann left .", "p53 it is .")
    tags = (["O", f"B-{tag}", "O", f"B-{tag}", "O"], ["O", f"B-{tag}", f"I-{tag}", "O"], ["O"] * 4)
    return lambda number: {
        "tokens": [*texts[number % 3].split(), str(number)],
        "ner_tags": [*tags[number % 3], "O"],
    }


def _entities(name: str, tag: str, subset: str = "default", **more: Any) -> Published:
    published = case(
        name, _tagged(tag), "test", subset, file=f"ner/{name}_adapter.py", few_shot_num=2, **more
    )
    return _shots(published, "train", _tagged(tag), 2)


def _tables() -> Published:
    answers = (["12", "7"], "12", ["Paris"], "7")
    kinds = ("multi-span", "arithmetic", "span", "count")
    questions = [
        {
            "uid": str(number), "question": _question(number), "answer": answers[number % 4],
            "answer_type": kinds[number % 4], "answer_from": ("table", "text")[number % 2],
            "scale": ("million", "")[number // 4 % 2], "derivation": "",
        }
        for number in range(8)
    ]  # fmt: skip
    document = {
        "table": {"uid": "t", "table": [["", "2019"], ["Sales", "12"]]},
        "paragraphs": [{"uid": "p", "order": 1, "text": "Sales were 12."}],
        "questions": questions,
    }
    files = {"tatqa_dataset_test_gold.json": [document]}
    arguments = {"subset_list": ["table", "text"]}
    return Published(
        name="tat_qa", file="tat_qa/tat_qa_adapter.py", data={}, arguments=arguments, files=files
    )


_SINGLE: Final = "biomix_qa mri_mcqa music_trivia sciq".split()
_VALIDATED: Final = "commonsense_qa piqa qasc siqa med_mcqa".split()
_FOUR: Final = "A B C D"

PUBLISHED: Final = (
    *(plain(name) for name in _SINGLE),
    *(plain(name, "validation") for name in _VALIDATED),
    plain("math_qa", reasoning="so"),
    plain("logi_qa", context="Some hold."),
    several("iquiz", ["IQ", "EQ"], choice_row),
    several("arc", ["ARC-Easy", "ARC-Challenge"], _arc),
    _shots(several("arc_indic", ["en", "hi"], _arc), "validation", _arc, 2),
    case("boolq", lambda n: {"passage": f"Page {n}.", "question": f"so, {n}", "answer": n % 2 == 0}, "validation"),
    case("hellaswag", lambda n: {"ctx_a": f"A man [x] {n}", "ctx_b": "he  sits", "endings": _options(n),
                                 "label": str(n % 4), "activity_label": "sit"}, "validation"),
    case("hellaswag_hi", lambda n: {"ctx": f"He {n}", "endings": _options(n), "label": n % 4}, "validation", "hi"),
    case("winogrande", lambda n: {"sentence": f"The _ {n}", "option1": "cup", "option2": "table",
                                  "answer": str(n % 2 + 1)}, "validation"),
    several("race", ["high", "middle"], lambda n: {"article": f"Text {n}.", "question": _question(n),
                                                   "options": _options(n), "answer": _letter(n)}, few_shot_num=0),
    _shots(several("race", ["high", "middle"], lambda n: {"article": f"Old {n}.", "question": _question(n),
                                                          "options": _options(n), "answer": _letter(n)}), "train",
           lambda n: {"article": f"Shot {n}.", "question": _question(n), "options": _options(n),
                      "answer": _letter(n)}, 3),
    several("ceval", ["law", "logic"], _lettered, "val", few_shot_num=0),
    _shots(several("ceval", ["law", "logic"], _lettered, "val"), "dev", _lettered, 2),
    case("cmmlu", lambda n: {"question": f"何 {n}?", "choices": [f"({x}) {x}{n}" for x in "ABCD"],
                             "answer": f"({_letter(n)})", "category": ("anatomy", "arts")[n % 2]}, "test",
         subset_list=["arts", "anatomy"]),
    case("mmlu", lambda n: {**_stated("answer")(n), "subject": ("anatomy", "virology")[n % 2]}, "test", "all",
         subset_list=["anatomy", "virology"], few_shot_num=0),
    _shots(case("mmlu", lambda n: {**_stated("answer")(n), "subject": ("anatomy", "virology")[n % 2]}, "test", "all",
                subset_list=["anatomy"]), "dev", lambda n: {**_stated("answer")(n), "subject": "anatomy"}, 3),
    case("mmlu_pro", _pro, subset_list=["math", "law"], few_shot_num=0),
    _shots(case("mmlu_pro", _pro, subset_list=["math", "law"]), "validation", _pro, 2),
    several("mmlu_redux", ["anatomy", "virology"], _redux),
    case("truthful_qa", _truthful, "validation", "multiple_choice", shuffle_choices=False),
    case("truthful_qa", _truthful, "validation", "multiple_choice", shuffle_choices=False,
         extra_params={"multiple_correct": True}),
    case("contract_nli", lambda n: {"premise": f"Deal {n}.", "hypothesis": "So.", "label": n % 3}, "test",
         "contractnli_b"),
    case("banking77", lambda n: {"text": f"Card {n}?", "label": n}),
    several("drivel_selection", ["multiple-choice-english-easy", "multiple-choice-english-hard"],
            lambda n: {"text": f"Deep {n}.", "choices": _options(n), "answer": _letter(n)},
            file="drivelology/drivelology_selection_adapter.py"),
    case("indic_boolq", lambda n: {"passage": f"Page {n}.", "question": f"so {n}", "label": n % 2,
                                   "language": ("en", "hi")[n % 2]}, "validation", subset_list=["hi", "en"]),
    case("indic_param", lambda n: {**_keyed("option_a option_b option_c option_d", "question_text", "correct_answer",
                                            ["a", "B "])(n), "subject": ("Bodo", "Dogri")[n % 2]},
         subset_list=["Dogri", "Bodo"]),
    several("milu", ["English", "Tamil"], _keyed("option1 option2 option3 option4", "question", "target",
                                                 ["option2", "option1"])),
    several("bhashabenchv1_ayur", ["English", "Hindi"], _keyed("option_a option_b option_c option_d", "question",
                                                          "correct_answer", ["B", "a"], topic="t"),
            file="bhashabenchv1/bhashabenchv1_adapter.py"),
    several("triviaqa_indic", ["en", "te"], _stated("answer"), "validation"),
    case("kina", lambda n: {"question": _question(n), "correct_answer": _letter(n).lower(), "discipline": "art",
                            "options": [{"key": key, "answer": f" {key}{n} "} for key in "BADC"], "index": n}),
    case("longbench_v2", lambda n: {"question": _question(n), "answer": _letter(n), "length": ("short", "long")[n % 2],
                                    "context": f"Long {n}.", "_id": str(n),
                                    **{f"choice_{x}": f"{x}{n}" for x in "ABCD"}}, "train"),
    case("maritime_bench", _lettered),
    case("reward_bench", lambda n: {"prompt": f"Say {n}.", "chosen": f"good {n}", "rejected": f"bad {n}",
                                    "subset": ("llmbar-natural", "mt-bench-easy")[n % 2], "id": n}, "filtered"),
    case("sanskriti", lambda n: {**_keyed("option1 option2 option3 option4", "question", "answer",
                                          ["option2 0", "no such", "option1 2"])(n),
                                 "question_type": ("Association", "General Awareness")[n % 2]}, "train"),
    # Mathematics
    _shots(case("gsm8k", _word_problem, "test", "main"), "train", _word_problem, 4),
    case("gsm8k", _word_problem, "test", "main", few_shot_num=0),
    several("gsm8k_indic", ["en", "hi_roman"], _word_problem),
    case("math_500", lambda n: {**_math("problem", "answer", ("12", "\\frac{1}{2}", "x^2+1"))(n), "level": n % 2 + 1,
                                "unique_id": str(n), "solution": ""}),
    case("cmath", lambda n: {**_math("question", "golden")(n), "grade": n % 3 + 1, "reasoning_step": 1,
                             "num_digits": 1}),
    _shots(several("mgsm", ["en", "de"], lambda n: {"question": f"Zahl {n}", "answer_number": (12, 7)[n % 2],
                                                    "answer": "So.", "equation_solution": "e"}), "train",
           lambda n: {"question": f"Beispiel {n}", "answer_number": n, "answer": f"So {n}.",
                      "equation_solution": "e"}, 2),
    _shots(case("competition_math", lambda n: {"problem": f"Prove {n}.", "level": f"Level {n % 2 + 1}", "type": "a",
                                               "solution": ("So \\boxed{12}.", "So $\\boxed{\\frac{1}{2}}$.")[n % 2]},
                subset_list=["Level 1", "Level 2"]), "train",
           lambda n: {"problem": f"Shot {n}.", "level": f"Level {n % 2 + 1}", "type": "a",
                      "solution": f"So \\boxed{{{n}}}."}, 2),
    # Yes or no, and scores over all samples
    case("coin_flip", _yes_no),
    case("drivel_binary", _drivel, "test", "binary-classification", file="drivelology/drivelology_binary_adapter.py"),
    case("drivel_multilabel", _labels, "test", "multi-label-classification",
         file="drivelology/drivelology_multilabel_adapter.py"),
    case("pubmedqa", _pubmed, file="pumed_qa/pubmed_qa_adapter.py"),
    case("hallusion_bench", _hallusion, "image"),
    case("trivia_qa", _trivia, "validation", "rc.wikipedia"),
    case("ifeval", _instructed, "train"),
    # Pictures
    case("ai2d", _pictured(question=_question, options=_options, answer=lambda n: str(n % 4))),
    case("a_okvqa", _pictured(question=_question, choices=_options, correct_choice_idx=lambda n: n % 4), "validation"),
    case("science_qa", _pictured(question=_question, hint="", choices=_options, answer=lambda n: n % 4)),
    case("mm_star", _pictured(question=_question, answer=_letter,
                              category=lambda n: ("math", "logical reasoning")[n % 2]), "val", "val"),
    case("visulogic", _pictured(question=_question, label=_letter, tag="Other", id=str),
         file="visu_logic/visu_logic_adapter.py"),
    case("vstar_bench", _pictured(text=_question, label=_letter, question_id=str)),
    case("real_world_qa", _pictured(question=_question, answer=lambda n: ("B", "12", "Yes")[n % 3], image_path="p")),
    case("count_qa", lambda n: {"image": PICTURE, "questions": [f"How many {n}?", f"And {n}?"], "answers": ["12", "7"],
                                "is_focused": True, "categories": ["x"]}),
    case("vqav2", lambda n: {"question": f"Where {n}?", "answers": ["Paris", "paris", "12", "the Paris"][: n + 2],
                             "image": PICTURE}, "validation"),
    case("ocr_bench", _pictured(question=_question, answer=lambda n: [["Paris"], ["1 2", "12"], ["x^2"]][n % 3],
                                dataset=lambda n: ("HME100k", "other")[n % 2],
                                question_type="Handwriting Recognition"),
         file="ocr_bench/ocr_bench/ocr_bench_adapter.py"),
    case("erqa", lambda n: {"question": _question(n), "answer": _letter(n), "question_type": "Pointing",
                            "question_id": str(n), "images": [PICTURE]}),
    case("blink", lambda n: {"prompt": _question(n), "choices": _options(n), "answer": f"({_letter(n)})",
                             "image_1": PICTURE, "image_2": None}, "val", "Counting", subset_list=["Counting"]),
    case("mmmu_pro", lambda n: {"id": str(n), "question": f"See <image 1> and <image 2>: {n}?",
                                "options": str(_options(n)), "answer": _letter(n), "subject": ("Art", "Biology")[n % 2],
                                "image_1": PICTURE, "image_2": None}, "test", "standard (4 options)",
         subset_list=["Art", "Biology"]),
    # Drawn at random from those that load
    _exams("lsat-ar", "gaokao-history", "jec-qa-kd", "gaokao-mathcloze", "math"),
    case("aime24", _math("problem", "answer", ("12", "7", "104")), file="aime/aime_adapter.py"),
    case("hmmt26", _math("problem", "answer", ("12", "7", "\\frac{1}{2}"), problem_idx=1, problem_type=["x"]), "train",
         file="hmmt/hmmt26_adapter.py"),
    case("general_mcq", _lettered, "val"),
    case("general_vmcq", lambda n: {"question": f"See <image 1>: {n}?", "options": _options(n), "answer": _letter(n),
                                    "image_1": f"data:image/png;base64,{_ENCODED}"}, "val"),
    case("gsm8k_v", lambda n: {"modify_scene_related_question": _question(n), "answer": ("12", "7", "0.5")[n % 3],
                               "image": json.dumps([_ENCODED]), "index": n, "category": "x", "subcategory": "y",
                               "original_question": _question(n)}, "train"),
    case("math_vista", _vista, "testmini"),
    _entities("bc2gm", "GENE"),
    _entities("bc4chemd", "CHEMICAL"),
    _entities("cross_ner", "LOCATION", "ai", subset_list=["ai"]),
    _entities("fin_ner", "PER"),
    _entities("genia_ner", "PROTEIN"),
    _tables(),
    case("vlms_are_biased", lambda n: {"prompt": _question(n), "image": PICTURE, "ground_truth": ("12", "Yes")[n % 2],
                                       "expected_bias": ("7", "no")[n % 2], "ID": str(n), "topic": "Logos",
                                       "sub_topic": "x", "type_of_question": "Q1", "with_title": False, "pixel": 384},
         "main", subset_list=["main"]),
    several("vtcbench", ["Retrieval", "Memory"], lambda n: {"problem": _question(n), "answers": ["Paris", "12"][: n % 2 + 1],
                                                            "images": [PICTURE]}),
)  # fmt: skip


def write_data(folder: Path, published: Published) -> str:
    """Return a folder of a benchmark's rows, laid out as both tools read it."""
    folder.mkdir(parents=True)
    for name, content in published.files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    configs: list[str] = []
    for subset, splits in published.data.items():
        configs += [f"- config_name: {json.dumps(subset)}", "  data_files:"]
        for split, found in splits.items():
            path = folder / f"{subset}_{split}.{'parquet' if published.holds_bytes else 'jsonl'}"
            _write(path, found)
            configs += [f"  - split: {json.dumps(split)}", f"    path: {json.dumps(path.name)}"]
    (folder / "README.md").write_text(
        "---\nconfigs:\n" + "\n".join(configs) + "\n---\n", encoding="utf-8"
    )
    return str(folder)


def _write(path: Path, found: list[Row]) -> None:
    if path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8"
        )
        return
    import pyarrow  # noqa: PLC0415 - EvalScope brings it
    import pyarrow.parquet  # noqa: PLC0415

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found), path)
