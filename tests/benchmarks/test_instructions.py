"""Each of IFEval's 25 instructions has a response that follows it and one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from nel.benchmarks.instructions.ifeval import ifeval, pooled_share, with_instructions
from nel.benchmarks.instructions.rules import RULES, follows, loose_variants, parameters_of
from nel.benchmarks.instructions.words import count_capital_words, count_sentences
from nel.types import SampleScore, Score, ScorerInput

ENGLISH = "this is a plain sentence in the english language and nothing else"
GERMAN = "Dies ist ein ganz gewöhnlicher Satz in deutscher Sprache und sonst nichts."
CASES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("keywords:existence", {"keywords": ["sun", "Moon"]}, ["The SUN and the moon."], ["Only the sun."]),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "at least"}, ["Ha, ha!", "haha"], ["ha"]),
    ("keywords:frequency", {"keyword": "ha", "frequency": 2, "relation": "less than"}, ["ha", "none"], ["ha ha"]),
    ("keywords:forbidden_words", {"forbidden_words": ["cat", "dog"]}, ["A category of birds."], ["A Dog!"]),
    ("keywords:letter_frequency", {"letter": "E", "let_frequency": 3, "let_relation": "at least"}, ["eEe"], ["ee"]),
    ("keywords:letter_frequency", {"letter": "#", "let_frequency": 2, "let_relation": "at least"}, ["#a #b"], ["#a"]),
    ("language:response_language", {"language": "de"}, [GERMAN, "123 456"], [ENGLISH]),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "at least"},
        ["One. Two! Three?"],
        ["One. Two", "Dr. Who met Mr. Smith."],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "less than"},
        ["One. Two."],
        ["One. Two. Three."],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["a\n***\nb", "***\na\n***\nb\n***"],
        ["a", "a *** b *** c", "a *** *** b"],
    ),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, ["one two-three"], ["one two"]),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, ["one two"], ["one two three"]),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Hello"},
        ['First.\n\n"Hello, you.', "First.\n\nhello"],
        ["First.\n\nGoodbye", "Hello", "a\n\nb\n\nhello", "a\n\n\n\nhello"],
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, ["[name] lives in [town]"], ["[name] (town)"]),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. more", "bye p. s. more"],
        ["Bye. PS more"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.P.S"},
        ["Bye.\nP.P.S more", "p. p. s. more"],
        ["P.S. more"],
    ),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* a\n* b", "- a\n  - b", "**bold**\n* a\n- b"],
        ["* a", "* a\n* b\n* c", "1. a\n2. b"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is yes.", "Well. My answer is maybe. Yes."],
        ["My answer is perhaps.", "yes"],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*a* and *b*", "**a** and *b*"],
        ["*a* b", "** ** ****"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1\na\nSection 2\nb"],
        ["Section 1\na", "SECTION 1 SECTION 2"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": [1]}', '```json\n{"a": 1}\n```', "```\n[]\n```"],
        ["{'a': 1}", 'Here: {"a": 1}', "[" * 100_000],
    ),
    ("detectable_format:title", {}, ["<<Joy>>\ntext"], ["<Joy>", "<< >>", "<<a\nb>>"]),
    (
        "combination:two_responses",
        {},
        ["a******b", "******a******b******"],
        ["a******a", "a", "a******b******c", "a************b"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write a Poem."},
        ["  write a poem. Roses"],
        ["Sure! Write a poem."],
    ),
    ("startend:end_checker", {"end_phrase": "Any more?"}, ["Yes. ANY MORE?", '"Yes. Any more?"'], ["Any more? No."]),
    ("startend:quotation", {}, [' "all of it" '], ['"some" of it', '"']),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["STOP and LOOK", "I AM"],
        ["STOP and look"],
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "less than"},
        ["STOP and look", "TOP-SECRET"],
        ["STOP, LOOK"],
    ),
    ("change_case:english_capital", {}, [ENGLISH.upper()], [ENGLISH, GERMAN.upper()]),
    ("change_case:english_lowercase", {}, [ENGLISH], [ENGLISH.title(), GERMAN.lower()]),
    ("punctuation:no_comma", {}, ["none; here."], ["one, here"]),
]


@pytest.mark.parametrize(("name", "parameters", "followed", "broken"), CASES)
def test_each_rule(name: str, parameters: dict[str, Any], followed: list[str], broken: list[str]) -> None:
    """The first responses follow the instruction, the others do not."""
    assert parameters_of(name, {**parameters, "unused": None}) == parameters
    assert [text for text in followed if not follows(text, name, parameters)] == []
    assert [text for text in broken if follows(text, name, parameters)] == []


def test_all_25_have_cases() -> None:
    """No rule is left out above, and a blank response follows none of them."""
    assert len(RULES) == 25
    assert {name for name, *_ in CASES} == set(RULES)
    assert not any(follows(" \n", name, parameters) for name, parameters, *_ in CASES)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("One. Two. Three.", 3),
        ("Mr. Smith met Dr. Who at 5 p.m. They talked.", 2),
        ("It costs 3.50 euros. Cheap!", 2),
        ("They met at 5 p.m. and left. She got an A. Then she sang.", 3),
        ("The U.S. is big. He lives in the U.S. He works.", 3),
        ("Wait... What? Well... The end.", 3),
        ("Visit St. Louis in Jan. 2024. (Or in Feb.)", 2),
        ("1. First thing\n2. Second thing", 3),
    ],
)
def test_sentences(text: str, n: int) -> None:
    """What NLTK's Punkt counts: it knows few abbreviations, and the number of a list item is a sentence."""
    assert count_sentences(text) == n


@pytest.mark.parametrize(
    ("text", "n"),
    [
        *(("I'M HERE", 3), ("DON'T", 2), ("U.S.A. and B", 2), ("A/B", 1), ("GONNA", 2), ("3D", 1), ("*BOLD*", 1)),
        *(("Ok", 0), ("THAT’S IT", 3), ("‘A’ «B» `C` „D“", 4)),
    ],
)
def test_capital_words(text: str, n: int) -> None:
    """Words are NLTK's tokens: contractions are two, hyphened words and abbreviations one."""
    assert count_capital_words(text) == n


def row(*instructions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    unset = {"num_words": None, "relation": None}
    return {
        "key": 1,
        "prompt": "Do it.",
        "instruction_id_list": [name for name, _ in instructions],
        "kwargs": [{**unset, **parameters} for _, parameters in instructions],
    }


def test_strict_and_loose_by_prompt_and_by_instruction() -> None:
    """A chatty first line breaks a rule strictly and not loosely; a prompt counts when all its rules are followed."""
    made = row(("detectable_format:json_format", {}), ("keywords:existence", {"keywords": ["zebra"]}))
    metadata = with_instructions(made)
    found: Any = ifeval.scorer(ScorerInput(response='Sure:\n{"a": "zebra"}', target=None, metadata=metadata))
    assert (found["prompt_level_strict_acc"], found["prompt_level_loose_acc"]) == (False, True)
    assert (found["inst_level_strict"], found["inst_level_loose"]) == (0.5, 1.0)
    assert found["not_followed"] == ["detectable_format:json_format"]
    assert len(loose_variants("a")) == 8


def test_rows_that_cannot_be_checked_are_refused() -> None:
    """An unknown instruction or a missing parameter is a bad row, never a guess."""
    with pytest.raises(ValueError, match='no instruction "keywords:magic"'):
        with_instructions(row(("keywords:magic", {})))
    with pytest.raises(ValueError, match="length_constraints:number_words lacks num_words, relation"):
        with_instructions(row(("length_constraints:number_words", {})))
    with pytest.raises(ValueError, match="no instruction"):
        with_instructions(row())


def test_instructions_are_pooled_over_prompts() -> None:
    """A prompt with three instructions counts three times."""
    scores = [
        SampleScore(score=Score(value=value), sample_metadata={"instructions": [{}] * n})
        for value, n in ((1.0, 1), (1 / 3, 3), (0.0, 2))
    ]
    assert pooled_share()(scores) == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    "text",
    ["\n" * 200_000 + "x", " \n" * 100_000, "[" * 200_000, "<" * 200_000, "x" * 200_000, "." * 200_000, "* " * 99_999],
)
def test_degenerate_responses_cost_linear_time(text: str) -> None:
    """What models write when they fail is checked like any other text, by every rule."""
    texts = {"language:response_language", "change_case:english_capital", "change_case:english_lowercase"}
    followed = {name: follows(text, name, parameters) for name, parameters, *_ in CASES if name not in texts}
    assert not followed["detectable_format:title"]
    assert not followed["detectable_content:number_placeholders"]
