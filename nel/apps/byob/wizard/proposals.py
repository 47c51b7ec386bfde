"""What a table of rows suggests: the gold answer's column, the kind of benchmark, prompt, scorer.

These are guesses by names and values; each is shown before it is used.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from nel.apps.byob.wizard.table import Table
from nel.datasets.column_names import gold_columns, gold_rank, is_about, question_column
from nel.datasets.fields import lookup
from nel.errors import ConfigError, did_you_mean

_CATEGORIES: Final = (
    "category", "subject", "topic", "subject_name", "domain", "language", "lang", "level", "difficulty", "type",
)  # fmt: skip
_PASSAGES: Final = ("passage", "context", "paragraph", "document")
# Columns with one option each: ``a``, ``option_b``, ``Choice C``; ``option1``, ``opt 2``.
_LETTER_COLUMN: Final = re.compile(r"(?:option|choice|opt|op|answer)?[ _-]?([a-j])", re.IGNORECASE)
_NUMBER_COLUMN: Final = re.compile(r"(?:option|choice|opt)[ _-]?(\d)", re.IGNORECASE)
_FIELD: Final = re.compile(r"[^\W\d]\w*")
# promptfoo's: ``contains: 4``, ``not-icontains: no``, ``similar(0.8): a cat``.
_ASSERTION: Final = re.compile(r"(?:not-)?[a-z][a-z-]*(?:\([\d.]+\))?:\s*\S")
# ``label``, ``sentiment_class``, ``is_spam``.
_CLASS_COLUMN: Final = re.compile(
    r"label|class|categor|sentiment|polarity|intent|target|toxic|spam|^is_", re.IGNORECASE
)
_LETTERS: Final = "abcdefghij"
_MARKS: Final = f"{_LETTERS} 0123456789"
_YES_NO: Final = frozenset({"yes", "no", "true", "false", "y", "n"})
_LABELS_MAX: Final = 12
_SHORT_WORDS: Final = 6
_REPEATED: Final = 3
"""How often each label comes, on average, before a column is taken for one of labels."""

_KIND_WORDS: Final = {
    "multiple-choice": r"multiple[ -]choice|mcq|mmlu|\bquiz",
    "math": r"math|arithmetic|gsm|aime|calculat|algebra|geometry|number",
    "yes-no": r"yes[ /-]*(?:or )?no|boolean|true[ /-]*(?:or )?false",
    "translation": r"translat",
    "summary": r"summar",
    "classification": r"classif|sentiment|intent|categor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is made of a table and what was said about it."""

    kind: str
    scorer: str
    why: str
    """Why this scorer."""
    prompt: str
    field_mapping: Mapping[str, str] = field(default_factory=dict)
    choices_field: str | None = None
    list_fields: tuple[str, ...] = ()
    """Columns whose lists are texts in the table."""
    category_field: str | None = None
    asks: bool = True
    """Whether some column was found to be the question."""
    left_out: tuple[str, ...] = ()
    """Columns of texts that the prompt does not show."""


KINDS: Final = {
    "math": ("numeric_match", "takes the last number of the answer"),
    "multiple-choice": ("mcq_letter_extract", "finds the letter in free text"),
    "yes-no": ("boolean_yesno", "finds yes or no in free text"),
    "classification": ("answer_line", "compares what follows Answer:"),
    "translation": ("chrf", "compares character sequences"),
    "summary": ("rouge", "measures shared words and sequences"),
    "short-answer": ("answer_line", "compares what follows Answer:, not the reasoning"),
    "long-answer": ("f1_token", "gives credit for shared words"),
}
"""Kinds of benchmark: the scorer that each one begins with, and why."""


def propose_targets(table: Table) -> list[str]:
    """Return the columns that are the gold answer by their names: one, none, or several candidates.

    Raises:
        ConfigError: The column holds assertions of another tool, not answers.
    """
    options = _option_columns(table)
    answers = [name for name in table.columns if name not in options and table.is_answer(name)]
    singles = [name for name in answers if not table.is_list(name)]
    targets = gold_columns(singles) or gold_columns(answers)
    for target in targets:
        _check_assertions(table, target)
    return targets


def _check_assertions(table: Table, target: str) -> None:
    """Raise ConfigError where promptfoo's column of assertions would be taken for answers."""
    assertion = next(filter(_ASSERTION.match, table.texts(target)), None)
    if target.startswith("__expected") and assertion is not None:
        raise ConfigError(
            f'the column "{target}" of {table.source} holds assertions of promptfoo, such as'
            f" {assertion[:40]!r}, not answers; write them as checks in YAML"
            " (nel docs write-a-benchmark-in-yaml), or put the answers into a column of their own"
        )


def no_target(table: Table, targets: Sequence[str]) -> ConfigError:
    """Return the error of a table without one column that is the gold answer by its name."""
    problem = f"no column of {table.source} is the gold answer by its name"
    if targets:
        problem = f"{' and '.join(targets)} may each be the gold answer of {table.source}"
    columns = ", ".join(table.fields())
    return ConfigError(f"{problem}; name the one with --target COLUMN (the columns are {columns})")


def propose_kind(table: Table, target: str, about: str = "") -> str:
    """Return the kind of benchmark that the description, else the values, speak for."""
    # The user's words decide, where the values allow it; then the surest signs come first.
    texts = [text.lower() for text in table.texts(target)]
    has_options = bool(_option_columns(table)) or _list_column(table, target) is not None
    may_be = {
        "multiple-choice": has_options,
        "math": any(character.isdigit() for text in texts for character in text),
    }
    for kind, words in _KIND_WORDS.items():
        if re.search(words, about, re.IGNORECASE) and may_be.get(kind, True):
            return kind
    if has_options:
        return "multiple-choice"
    if texts and set(texts) <= _YES_NO:
        return "yes-no"
    if class_numbers(table, target):
        return "classification"
    if table.is_numeric(target) or any("####" in text for text in texts):
        return "math"
    labels = table.distinct(target)
    if 1 < labels <= _LABELS_MAX and labels * _REPEATED <= len(texts):
        return "classification"
    if target.lower() in {"translation", "summary"}:
        return target.lower()
    return "short-answer" if table.mean_words(target) <= _SHORT_WORDS else "long-answer"


def class_numbers(table: Table, target: str) -> list[str]:
    """Return the numbers that stand for classes in a column of gold answers; none where they are
    answers: classes are counted from 0 or 1, come again and again, and their column is called so.
    """
    texts = table.texts(target)
    numbers = sorted({text for text in texts if text.isdecimal()}, key=int)
    is_counted = [int(n) for n in numbers] in (
        list(range(len(numbers))),
        list(range(1, len(numbers) + 1)),
    )
    is_repeated = 1 < len(numbers) <= _LABELS_MAX and len(numbers) * _REPEATED <= len(texts)
    has_others = len(numbers) < table.distinct(target)
    is_class = _CLASS_COLUMN.search(target) is not None
    return numbers if is_class and is_counted and is_repeated and not has_others else []


def check_known(what: str, names: Collection[str], name: str) -> str:
    """Return a name.

    Args:
        what: It is the name of, such as ``kind``.
        names: All that there are.

    Raises:
        ConfigError: There is none of this name.
    """
    if name not in names:
        hint = did_you_mean(name, names)
        raise ConfigError(f'there is no {what} "{name}"{hint}; known: {", ".join(names)}')
    return name


def propose(
    table: Table,
    *,
    target: str,
    kind: str,
    choices_field: str | None = None,
    category_field: str | None = None,
) -> Proposal:
    """Return a prompt and a scorer for rows of this kind.

    Args:
        choices_field: The column with the list of options, where it is known.
        category_field: The column that breakdowns use, where it is known.

    Raises:
        ConfigError: The kind or a column is unknown.
    """
    check_known("kind", KINDS, kind)
    for name in (target, choices_field, category_field):
        if name is not None:
            check_known("column", table.fields(), name)
    options: dict[str, str] = {}
    list_field = choices_field
    if kind == "multiple-choice":
        options, list_field = _options(table, target, choices_field)
    used_columns = {target, *options}
    if list_field:
        used_columns.add(list_field)
    question = _question(table, used_columns)
    unused_columns = [name for name in table.columns if name not in {*used_columns, question}]
    passage = _column_by_name(_PASSAGES, unused_columns)
    mapping = {name: letter for name, letter in options.items() if name != letter}
    # A column whose name cannot stand in a template, such as "Question text", is renamed.
    fields = []
    for name in filter(None, (question, passage)):
        if not _FIELD.fullmatch(name):
            mapping[name] = _field_name(name)
        fields.append(mapping.get(name, name))
    body = "\n\n".join(f"{{{name}}}" for name in reversed(fields))
    scorer, why = _scorer(table, target, kind)
    lists = [name for name in (target, list_field) if name and table.lists_as_texts(name)]
    category = category_field or _category(table, unused_columns)
    return Proposal(
        kind=kind,
        scorer=scorer,
        why=why,
        prompt=_prompt(kind, body, list(options.values()), list_field, scorer, table.texts(target)),
        field_mapping=mapping,
        choices_field=list_field,
        list_fields=tuple(mapping.get(name, name) for name in lists),
        category_field=category,
        asks=bool(fields),
        left_out=_texts_besides((passage, category), unused_columns, table),
    )


def _options(
    table: Table, target: str, choices_field: str | None
) -> tuple[dict[str, str], str | None]:
    """Return the columns of options with their letters, and the column that lists all of them."""
    columns = _option_columns(table) if choices_field is None else {}
    list_field = choices_field or _list_column(table, target)
    if not columns and list_field is None:
        raise ConfigError(
            f"no options are found in {table.source}; name the column with the list in"
            " --choices-field, or call the columns a, b, c, d"
        )
    return columns, list_field


def _scorer(table: Table, target: str, kind: str) -> tuple[str, str]:
    texts = table.texts(target)
    if kind == "math" and any("####" in text for text in texts):
        return "gsm8k_answer", "the gold answers end in #### N, as in GSM8K"
    if kind == "math" and any("\\" in text for text in texts):
        return "math_equal", "the gold answers are LaTeX"
    return KINDS[kind]


def _prompt(
    kind: str,
    body: str,
    letters: Sequence[str],
    list_field: str | None,
    scorer: str,
    golds: Sequence[str],
) -> str:
    if kind == "math":
        end = "#### NUMBER" if scorer == "gsm8k_answer" else "Answer: NUMBER"
        return f'Solve step by step.\n\nProblem: {body}\n\nEnd with a line "{end}".'
    if kind == "multiple-choice":
        choices, labels = "{choices}", "{letters}"
        if not list_field:
            choices = "\n".join(f"{letter.upper()}) {{{letter}}}" for letter in letters)
            labels = ", ".join(letter.upper() for letter in letters)
        return f'{body}\n{choices}\n\nEnd with a line "Answer: X", where X is one of {labels}.'
    if kind == "yes-no":
        return f"Answer yes or no.\n\n{body}\nAnswer:"
    if kind == "classification":
        # Braces of a label are text, and would name a field in a template.
        labels = ", ".join(sorted(set(golds))).replace("{", "{{").replace("}", "}}")
        return f'Classify into one of: {labels}.\n\n{body}\n\nEnd with a line "Answer: LABEL".'
    if kind == "translation":
        return f"Translate. Reply with the translation alone.\n\n{body}"
    if kind == "summary":
        return f"Summarize in a few sentences.\n\n{body}"
    if kind == "short-answer":
        return f'Question: {body}\n\nEnd with a line "Answer: X", where X is as short as possible.'
    return f"Question: {body}\nAnswer:"


def _column_by_name(names: Iterable[str], columns: Sequence[str]) -> str | None:
    # Of columns that differ in case or spaces alone, the first counts.
    by_name = {name.lower().strip().replace(" ", "_"): name for name in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _question(table: Table, used_columns: set[str]) -> str | None:
    """Return the column of the question: by its name, else the only text that is left."""
    candidates = [
        name for name in table.columns if name not in used_columns and table.is_text(name)
    ]
    by_name = question_column(candidates)
    if by_name is not None:
        return by_name
    texts = [
        name
        for name in candidates
        if gold_rank(name) is None and not is_about(name) and not table.is_numeric(name)
    ]
    return texts[0] if len(texts) == 1 else None


def _option_columns(table: Table) -> dict[str, str]:
    """Return the columns that hold an option each, with the scorer's letters ``a``, ``b``, …"""
    for pattern in (_LETTER_COLUMN, _NUMBER_COLUMN):
        marks = {
            name: match[1].lower() for name in table.columns if (match := pattern.fullmatch(name))
        }
        # Columns count as options where their marks are consecutive, from a, 0 or 1 on.
        in_order = "".join(sorted(marks.values()))
        if len(in_order) > 1 and in_order.startswith(("a", "0", "1")) and in_order in _MARKS:
            return {name: _LETTERS[in_order.index(mark)] for name, mark in marks.items()}
    return {}


def _list_column(table: Table, target: str) -> str | None:
    column, _, _ = target.partition(".")
    lists = [
        name for name in table.fields() if name.partition(".")[0] != column and table.is_list(name)
    ]
    # ARC has its options in an object, whose list of texts is `choices.text`.
    by_name = _column_by_name(("choices", "options", "answers", "endings", "choices.text"), lists)
    if by_name is None and len(lists) == 1 and _lists_golds(table, lists[0], target):
        return lists[0]
    return by_name


def _lists_golds(table: Table, name: str, target: str) -> bool:
    """Return whether each list of a column may be the options of a row's gold answer."""
    for row in table.rows:
        items, gold = table.items(row, name), str(lookup(row, target, None)).strip()
        is_label = gold.isdecimal() or (len(gold) == 1 and gold.isalpha())
        if len(items) < 2 or not (is_label or gold in items):  # noqa: PLR2004 - a choice
            return False
    return True


def _category(table: Table, unused_columns: Sequence[str]) -> str | None:
    name = _column_by_name(_CATEGORIES, unused_columns)
    if name is None or not 1 < table.distinct(name) < max(len(table.rows), 3):
        return None
    return name


def _texts_besides(
    shown: Collection[str | None], columns: Iterable[str], table: Table
) -> tuple[str, ...]:
    """Return the columns of texts of several words, which a name or an address is not."""
    texts = filter(table.is_text, columns)
    return tuple(
        name
        for name in texts
        if name not in shown and any(" " in str(value) for value in table.values(name))
    )


def _field_name(column: str) -> str:
    """Return a name that a template can hold."""
    name = re.sub(r"\W+", "_", column).strip("_").lower()
    return name if _FIELD.fullmatch(name) else f"field_{name}"
