"""The page of the reference that states how answers are read, with the table of
nel/reading/forms.toml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nel.reading.table import FormRow, end_tokens, rows, rule_versions, words_by_language
from nel.reading.types import Form

_RULE = """# How answers are read

A score rests on finding the answer in what a model writes. One rule does this for letters, numbers, yes or no, labels,
short texts and formulas; its [versions](#official-rules-and-versions) are in metrics.json, and
[how well](../explanation/reading.md) it reads was measured on 71,574 recorded outputs.
[Programs](../how-to/run-programs.md) have another.

## The rule

1. **Only the answer is read.** Reasoning (`<think>…</think>` and its relatives) was split from it where the response
   arrived, as were [calls of tools](../explanation/numbers.md#model-failures-count-0) in the text. The response ends at
   its first end token (one of {tokens}, or an unknown `<token>` that closes it).
2. **Only the model's own turn is read.** The response ends where a line opens with the question marker of the prompt
   (`Question:`, `Q:`, `问题：`), with the same marks before it (`### Q:` is another one), but not where that line or its
   number (`Input 2:`) is the prompt's. Where another turn
   opens all the same (`Q:`, or a second `A:`), what is declared before it counts first.
3. **The last declaration counts, strong ones before plain ones.** Strong are a tag, a box and a JSON field; plain are
   `####`, a marker such as `Answer:`, and a phrase such as "the answer is". What follows is the answer: the content of
   the tag, box or field; the rest of the line, or the line or quoted block below it, also where a marker's line repeats
   the question; the sentence of a phrase. Of several
   numbers it is the one after the last `=`, unless the text opens with one and only explains it ("250 grams (since 1 kg =
   1000 g)"); else the one that opens the text, or the first of its last sentence, in Japanese the last. A number that the
   question names is passed over for one that it does not name ("8 pens cost $12"), but not "the answer is 8 …" and "8,
   because …". A declaration without an answer of the kind is passed over.
4. **Without one, an answer stands alone.** It is the last line if that is nothing but an answer, else the first line.
   Letters, labels and decisions may also be the only ones of all lines, whole or after a key of up to 40 characters
   ("Verdict: No"). Else, unless what is declared is no answer ("Not possible"), it is the only answer in bold of the last
   sentence ("Weng earned **$10** for the hour"), the only one that this sentence names, the only one in bold of the whole
   response, or the only one that a response of up to 4,000 characters names. In a sentence that calculates nothing, numbers
   of the question count only where it names no other ("There were 3 shipments with exactly 56 boxes").
5. **What is denied, left open or taken back is not an answer**: two answers joined ("A or B"), "none of these", "not
   B", "larger than B", "toxic: no", an empty box, a retraction right after the answer ("Wait", "Actually, …", "is wrong"). A denial stands up to
   three words before the answer in its clause, which stops, commas, quotes and words such as "but" end; of "the answer is
   not A but B", B counts, as does "no" of "Normally yes, but here no". The [words](#the-words-around-an-answer) are in the table. "No" before another word is not an
   answer.
6. **What breaks off or loops has only what it declares.** A response of over 200 characters that ends within a
   sentence, and one whose last 40 characters stand in it four times, name no answer in their last sentence.
7. **Equal is** the same letter, label or decision, the same exact value of a number (`1,218` is 1218, `1/2` is 0.5),
   the same text but for case, articles and spaces, or a formula that math-verify finds equal.

| kind | nothing but an answer is |
|---|---|
| letter | a label, bare, in brackets, or before its option's text, and not one of a list of labels; or that text as whole words; where yes and no are options, also one that opens a line ("Yes, there are."); أ ب ج د and অ ব ড ঢ are A to D |
| number | a number and at most its unit; an amount in two units ("2 hours and 30 minutes") is none |
| yes or no | yes, no, true or false, set off from what follows |
| label | a permitted label; `_` and `-` do not count, nor does case unless two labels differ by it alone; scores of several ("positive: 0.1, negative: 0.9") name none; of numbers "4/5" and "4 out of 5" are 4 |
| text | at most twelve words that are the whole response or a paragraph |
| formula | an expression without words |

## The form that the prompt asks for

A benchmark whose prompt asks for a form declares it with `answer_form=`; it is read before anything else.

| `answer_form` | reads |
|---|---|
| `tag answer` | `<answer>…</answer>` |
| `json answer` | `"answer": …` |
| `after "FINAL ANSWER:"` | what follows these words, in any case |
| `box` | `\\boxed{{…}}` |
| `Result = (\\S+)` | the group of a regular expression |

`exact_match`, `fuzzy_match`, `contains` and `f1_token` compare the text in that form, or the whole response where it does
not occur. In YAML it is the key `answer_form` (its checks `equals` and `numeric` look there), on the command line
`--answer-form`. `--strict-form`, or `"strict_form": True` in `extra`, reads nothing else. A warning
counts the responses in which the form does not occur; each has `in_asked_form` among its `scoring_details`.

## What a reading says

`nel eval score DIR --explain ID` and `nel scorer audit DIR` show

- the **value** and its place in characters of the whole response;
- the **form** in which it was read: {forms};
- what was **rejected**, where, and why: several answers, none of these, blank, retracted, cut off …

## Official rules and versions

Where the authors of a benchmark published a rule, `--rule official` reads by it and `--rule general` by this page.
`gsm8k` is read by this page, since its prompt asks for `Answer: N` and not for the authors' `#### N`; `mmlu_pro` is
read by the authors' rule, since its prompt is theirs and published numbers rest on it; `bbh` by this page, since chat
models do not end in the sentence of the examples. `nel scorer audit` sets the ways of reading
[side by side](../how-to/audit-a-scorer.md).

| benchmark | official rule | on recorded outputs |
|---|---|---|
| `bbh` | what follows the last `answer is `, without a full stop, or the whole response; equal as text | 4,356 of 4,356 verdicts |
| `gsm8k` | the number after the first `#### ` | none is in this form |
| `mmlu_pro` | the first `answer is (X)`; else, on the first line that has one, the last `Answer: X`; else the last lone letter | 11,338 of 11,338 letters; in 694 outputs there is none, where the authors draw one at random |

No other benchmark offers an official rule: no published rule of its authors comes with recorded verdicts to check it
against.

metrics.json names the rule and, for each kind of answer that the scorer reads, the version of its readers, now
{version}. A change that reads a recorded output differently raises a version, and with it the identity of the runs
whose scorers use these readers; other runs stay comparable.

## The table of forms

Patterns of `nel/reading/forms.toml` are matched against the response in small letters, with emphasis as spaces. A row
of the form `sentence` says what names an answer of its kind in rule 4. Each row names the recorded output or published
task that needs it; [CONTRIBUTING](../../CONTRIBUTING.md) says how one is added.

| form | strength | language | needed by | pattern |
|---|---|---|---|---|
"""

_WORDS = """
## The words around an answer

Of all languages together, with or without their accents. An asterisk stands for the end of a word, and … for at most one word.

| what the words do | words by language |
|---|---|
"""
_ROLES = {
    "before": "deny an answer after them",
    "compared": "stand right before what an answer is compared with, which is none",
    "kept": "deny nothing",
    "after": "deny an answer before them",
    "contrast": "begin a clause of its own",
    "hedge": "only suppose an answer",
    "or": "join two answers, of which one at most is meant",
    "and": "join two answers, which are both meant",
    "retraction": "take an answer back, from which a mark or a line parts them",
    "refutation": "take back the answer that is their subject",
    "none": "say that no option is right",
    "option": "stand before a label",
    "yes": "decide for yes",
    "no": "decide for no",
    "yes_alone": "decide for yes where no word follows",
    "no_alone": "decide for no where no word follows",
    "copula": "end a sentence after the answer",
}


def reading() -> str:
    """Return the page."""
    forms = ", ".join(form.value for form in Form if form is not Form.NONE)
    tokens = ", ".join(f"`{token}`" for token in end_tokens())
    rule = _RULE.format(version=_versions(), forms=forms, tokens=tokens)
    words = (
        f"| {does} | {_by_language(words_by_language()[role])} |\n" for role, does in _ROLES.items()
    )
    return "".join([rule, *map(_line, rows()), _WORDS, *words])


def _by_language(words: Mapping[str, Sequence[str]]) -> str:
    """Return words in a cell of a table, a language a line."""
    return "<br>".join(
        f"{language}: {', '.join(map(_code, several))}" for language, several in words.items()
    )


def _versions() -> str:
    numbers = set(rule_versions().values())
    if len(numbers) == 1:
        return f"{numbers.pop()} for all of them"
    return ", ".join(f"{kind} {number}" for kind, number in rule_versions().items())


def _line(row: FormRow) -> str:
    name = f"sentence, {row.kind}" if row.form is Form.SENTENCE else row.form.value
    needed_by = row.needed_by.replace("|", "\\|").replace("<", "&lt;")
    return f"| {name} | {row.strength} | {row.language} | {needed_by} | {_code(row.source)} |\n"


def _code(text: str) -> str:
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"
