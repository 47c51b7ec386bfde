"""IFEval's 25 kinds of instructions, each a function of a response and its own parameters.

Written from the specification in the paper (Zhou et al. 2023, arXiv 2311.07911), and equal to the
authors' program in its quirks too: a bullet is a line that starts with ``*`` or ``-``, a paragraph
ends at ``***``, keywords are regular expressions. ``less than`` is strict and ``at least`` is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, Final

from nel.benchmarks.instructions.language import is_language
from nel.benchmarks.instructions.words import count_capital_words, count_sentences, count_words

_OPTIONS: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_FENCES: Final = ("```json", "```Json", "```JSON", "```")
_POSTSCRIPTS: Final = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
_SPACES = re.compile(r"\s*+")
_FIRST_WORD = re.compile(r"[^.,?!'\"]*")


def _holds(count: int, relation: str, limit: int) -> bool:
    if relation == "less than":
        return count < limit
    if relation == "at least":
        return count >= limit
    raise ValueError(f'the relation "{relation}" is neither "less than" nor "at least"')


def _has_keywords(text: str, keywords: Sequence[str]) -> bool:
    return all(re.search(keyword, text, re.IGNORECASE) for keyword in keywords)


def _keyword_frequency(text: str, keyword: str, frequency: int, relation: str) -> bool:
    return _holds(len(re.findall(keyword.strip(), text, re.IGNORECASE)), relation, frequency)


def _lacks_words(text: str, forbidden_words: Sequence[str]) -> bool:
    return not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in forbidden_words)


def _letter_frequency(text: str, letter: str, let_frequency: int, let_relation: str) -> bool:
    return _holds(text.lower().count(letter.strip().lower()), let_relation, let_frequency)


def _number_sentences(text: str, num_sentences: int, relation: str) -> bool:
    return _holds(count_sentences(text), relation, num_sentences)


def _number_words(text: str, num_words: int, relation: str) -> bool:
    return _holds(count_words(text), relation, num_words)


def _number_paragraphs(text: str, num_paragraphs: int) -> bool:
    pieces = re.split(r"\s?\*\*\*\s?", text)
    # A mark may open or close the text, but between two marks there is a paragraph.
    if any(not piece.strip() for piece in pieces[1:-1]):
        return False
    # A set, since the first piece is the last one too where there is no ``***``.
    blank_ends = sum(not pieces[position].strip() for position in {0, len(pieces) - 1})
    return len(pieces) - blank_ends == num_paragraphs


def _nth_paragraph(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    pieces = text.split("\n\n")
    # As in the authors' program, a blank piece is not a paragraph here but has a number below.
    count = sum(bool(piece.strip()) for piece in pieces)
    if (
        count != num_paragraphs
        or not 1 <= nth_paragraph <= count
        or not pieces[nth_paragraph - 1].strip()
    ):
        return False
    # `'"Paris,` without its quotes and up to its comma, as the authors cut it.
    word = pieces[nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
    match = _FIRST_WORD.match(word)
    return match is not None and match[0].lower() == first_word.lower()


def _placeholders(text: str, num_placeholders: int) -> bool:
    # The authors' `\[.*?\]` without its backtracking: after the last "]" nothing can match.
    lines = (line[: line.rfind("]") + 1] for line in text.split("\n"))
    return sum(len(re.findall(r"\[[^\]]*\]", line)) for line in lines) >= num_placeholders


def _postscript(text: str, postscript_marker: str) -> bool:
    marker = postscript_marker.strip()
    pattern = _POSTSCRIPTS.get(marker, marker.lower())
    return re.search(pattern, text.lower()) is not None


def _bullets(text: str, num_bullets: int) -> bool:
    return _items(text, "*") + _items(text, "-") == num_bullets


def _items(text: str, mark: str) -> int:
    """Return how many lines a mark opens: matches of ``^\\s*\\*[^*].*$``, or of ``^\\s*-.*$``.

    In linear time, since some models end in thousands of line breaks.
    """
    n, start = 0, 0
    while start <= len(text):
        spaces = _SPACES.match(text, start)
        position = spaces.end() if spaces else start
        # Two stars are emphasis. A lone star takes the next line for its item, as ``[^*]`` does.
        if text[position : position + 1] == mark and (
            mark == "-" or text[position + 1 : position + 2] not in ("", "*")
        ):
            n += 1
            position += 2 if mark == "*" else 1
        line_end = text.find("\n", position)
        if line_end < 0:
            break
        start = line_end + 1
    return n


def _is_constrained(text: str) -> bool:
    return any(option in text for option in _OPTIONS)


def _highlights(text: str, num_highlights: int) -> bool:
    # The authors' program counts a bold span with both patterns.
    n_italic = sum(bool(span.strip("*").strip()) for span in re.findall(r"\*[^\n*]*\*", text))
    n_bold = sum(bool(span.strip()) for span in re.findall(r"\*\*([^\n*]*)\*\*", text))
    return n_italic + n_bold >= num_highlights


def _sections(text: str, section_spliter: str, num_sections: int) -> bool:
    return len(re.findall(rf"\s?{section_spliter.strip()}\s?\d+\s?", text)) >= num_sections


def _is_json(text: str) -> bool:
    document = text.strip()
    for fence in _FENCES:
        document = document.removeprefix(fence)
    try:
        json.loads(document.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _has_title(text: str) -> bool:
    # A title is as long as its line allows: from the first "<<" to the last ">>".
    lines = (
        line[line.find("<<") : line.rfind(">>") + 2] for line in text.split("\n") if "<<" in line
    )
    return any(len(line) > len("<<>>") and line.lstrip("<").rstrip(">").strip() for line in lines)


def _two_responses(text: str) -> bool:
    pieces = text.split("******")
    if any(not piece.strip() for piece in pieces[1:-1]):
        return False
    answers = [piece.strip() for piece in pieces if piece.strip()]
    return len(answers) == 2 and answers[0] != answers[1]  # noqa: PLR2004 - two responses


def _repeats_prompt(text: str, prompt_to_repeat: str) -> bool:
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


def _ends_with(text: str, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def _is_quoted(text: str) -> bool:
    stripped = text.strip()
    return len(stripped) > 1 and stripped[0] == stripped[-1] == '"'


def _capital_words(text: str, capital_frequency: int, capital_relation: str) -> bool:
    return _holds(count_capital_words(text), capital_relation, capital_frequency)


def _is_capital_english(text: str) -> bool:
    return text.isupper() and is_language(text, "en")


def _is_lower_english(text: str) -> bool:
    return text.islower() and is_language(text, "en")


def _lacks_commas(text: str) -> bool:
    return "," not in text


RULES: Final[Mapping[str, Callable[..., bool]]] = {
    "keywords:existence": _has_keywords,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _lacks_words,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": is_language,
    "length_constraints:number_sentences": _number_sentences,
    "length_constraints:number_paragraphs": _number_paragraphs,
    "length_constraints:number_words": _number_words,
    "length_constraints:nth_paragraph_first_word": _nth_paragraph,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _is_constrained,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _is_json,
    "detectable_format:title": _has_title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _repeats_prompt,
    "startend:end_checker": _ends_with,
    "startend:quotation": _is_quoted,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _is_capital_english,
    "change_case:english_lowercase": _is_lower_english,
    "punctuation:no_comma": _lacks_commas,
}
"""By the dataset's id of a kind: whether a response, given the parameters by name, follows it."""


def parameters_of(instruction: str, row_parameters: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters that a row gives an instruction.

    Raises:
        ValueError: The kind is unknown, or a parameter is missing.
    """
    rule = RULES.get(instruction)
    if rule is None:
        raise ValueError(f'there is no instruction "{instruction}"')
    names = list(signature(rule).parameters)[1:]
    gaps = [name for name in names if row_parameters.get(name) is None]
    if gaps:
        raise ValueError(f"{instruction} lacks {', '.join(gaps)}")
    return {name: row_parameters[name] for name in names}


def follows(response: str, instruction: str, parameters: Mapping[str, object]) -> bool:
    """Return whether a response follows an instruction, strictly; a blank response follows none."""
    return bool(response.strip()) and RULES[instruction](response, **parameters)


def instructions_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the instructions of a row of IFEval, each an id and its parameters.

    Raises:
        KeyError: A field is missing.
        ValueError: An instruction is unknown or lacks a parameter, or there is none.
    """
    pairs = list(zip(row["instruction_id_list"], row["kwargs"], strict=True))
    if not pairs:
        raise ValueError("it has no instruction")
    return [
        {"id": name, "kwargs": parameters_of(name, parameters or {})} for name, parameters in pairs
    ]


def numbers_followed(response: str, instructions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the shares of prompts and of instructions that a response follows, strictly and
    loosely, and the ids of those it does not follow strictly.
    """
    pairs = [(instruction["id"], instruction["kwargs"]) for instruction in instructions]
    strict = [follows(response, *pair) for pair in pairs]
    variants = loose_variants(response)
    # Each instruction by itself: one may need the variant without asterisks, another that with.
    loose = [any(follows(text, *pair) for text in variants) for pair in pairs]
    return {
        "prompt_level_strict_acc": all(strict),
        "prompt_level_loose_acc": all(loose),
        "inst_level_strict": sum(strict) / len(strict),
        "inst_level_loose": sum(loose) / len(loose),
        "not_followed": [
            name for (name, _), is_followed in zip(pairs, strict, strict=True) if not is_followed
        ],
    }


def loose_variants(response: str) -> list[str]:
    """Return what the loose check accepts: with and without first line, last line, asterisks.

    >>> loose_variants("Sure:\\n*Hi*")
    ['Sure:\\n*Hi*', '*Hi*', 'Sure:', '', 'Sure:\\nHi', 'Hi', 'Sure:', '']
    """
    lines = response.split("\n")
    excerpts = (lines[1:], lines[:-1], lines[1:-1])
    texts = [response, *("\n".join(excerpt).strip() for excerpt in excerpts)]
    return texts + [text.replace("*", "") for text in texts]
