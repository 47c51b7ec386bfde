"""The adapter of multiple choice: options with letters in the prompt, and a letter as the answer.

EvalScope guesses the last capital letter of a reply without an answer; nel guesses nothing, so such
a reply has none.
"""

from __future__ import annotations

from typing import Any, Final

from nel.authoring.adapters.base import DefaultDataAdapter
from nel.authoring.adapters.samples import Sample, TaskState
from nel.reading.letters import chosen_labels, labels_for
from nel.reading.response import own_response
from nel.scoring.gold_choices import letters_in

SINGLE_ANSWER: Final = """Answer the following multiple-choice question. End your reply with a line of the form \
"ANSWER: X" (without quotes), where X is one of {letters}.

{question}

{choices}"""
MULTIPLE_ANSWERS: Final = """Answer the following multiple-choice question, which has one or more right answers. End \
your reply with a line of the form "ANSWER: X" (without quotes), where X is one or more of {letters}, such as A,C.

{question}

{choices}"""


class MultiChoiceAdapter(DefaultDataAdapter):
    """The adapter of multiple choice."""

    multiple_correct: bool = False
    """Whether several letters may be right; a target is then a text such as ``AC``, or a list."""

    def __init__(self, **options: Any) -> None:
        """Take what `DataAdapter` takes; without a prompt template, choose one."""
        super().__init__(**options)
        if self.prompt_template is None:
            self.prompt_template = MULTIPLE_ANSWERS if self.multiple_correct else SINGLE_ANSWER

    def template_values(self, sample: Sample) -> dict[str, object]:
        """Return the question, its choices as lines and their letters."""
        choices = sample.choices or []
        return {
            "question": sample.input,
            "choices": format_choices(choices),
            "letters": ",".join(labels_for(len(choices))),
        }

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return question, choices and the right answer."""
        target = ",".join(sample.target) if isinstance(sample.target, list) else sample.target
        return f"{sample.input}\n\n{format_choices(sample.choices or [])}\n\nANSWER: {target}"

    def accepted_answers(self, reference: str, task_state: TaskState) -> str | list[str]:
        """Return the right letters: all together where several are right, else any of a list.

        Raises:
            DatasetError: Several are right, and the target is not letters.
        """
        accepted = super().accepted_answers(reference, task_state)
        if not self.multiple_correct:
            return accepted
        return "".join(letters_in(accepted, labels_for(len(task_state.choices))))

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return the letters of the last line ``ANSWER: X``, else those given in another form."""
        labels = labels_for(len(task_state.choices))
        response = own_response(prediction)
        letters = chosen_labels(response, labels, task_state.choices)
        if len(letters) > 1 and not self.multiple_correct:
            return ""
        return "".join(letters)


def format_choices(choices: list[str]) -> str:
    """Return choices as lines with their letters.

    >>> print(format_choices(["red", "blue"]))
    A) red
    B) blue
    """
    return "\n".join(
        f"{label}) {choice}"
        for label, choice in zip(labels_for(len(choices)), choices, strict=True)
    )
