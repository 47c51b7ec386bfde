"""The kinds of adapters that add to `DefaultDataAdapter`: multiple choice, images and sounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nel.compat.evalscope.adapters import DefaultDataAdapter
from nel.compat.evalscope.choices import (
    MultipleChoiceTemplate,
    Target,
    format_example,
    parse_answers,
    parse_answers_zh,
    prompt,
)
from nel.compat.evalscope.media import MediaReader
from nel.compat.evalscope.samples import Sample, TaskState
from nel.compat.evalscope.templates import CHINESE, FEW_SHOT_TEMPLATE
from nel.reading.letters import chosen_labels, labels_for
from nel.reading.response import own_response
from nel.scoring.gold_choices import letters_in

__all__ = ["AudioLanguageAdapter", "MultiChoiceAdapter", "VisionLanguageAdapter"]


class MultiChoiceAdapter(DefaultDataAdapter):
    """The adapter of multiple choice: options with letters in the prompt, a letter as the answer."""

    multiple_correct: bool = False
    """Whether several letters may be right; a target is then a text such as ``AC``, or a list."""

    def __init__(self, **options: Any) -> None:
        """Take what `DefaultDataAdapter` takes; without a prompt template, choose one."""
        super().__init__(**options)
        if self.prompt_template is None:
            self.prompt_template = (
                MultipleChoiceTemplate.MULTIPLE_ANSWER
                if self.multiple_correct
                else MultipleChoiceTemplate.SINGLE_ANSWER
            )

    def format_prompt_template(self, sample: Sample) -> str:
        """Return the prompt of a sample without examples."""
        return prompt(sample.input, sample.choices or [], str(self.prompt_template))

    def format_fewshot_template(self, fewshot: str, sample: Sample) -> str:
        """Return the prompt of a sample with its examples."""
        template = self.few_shot_prompt_template or FEW_SHOT_TEMPLATE + str(self.prompt_template)
        return prompt(sample.input, sample.choices or [], template, fewshot)

    def sample_to_fewshot(self, sample: Sample) -> str:
        """Return question, choices and the right answer."""
        return format_example(sample.input, sample.choices or [], Target(sample.target))

    def accepted_answers(self, reference: str, task_state: TaskState) -> str | list[str]:
        """Return the right letters: all together where several are right, else any of a list."""
        accepted = super().accepted_answers(reference, task_state)
        is_several = self.multiple_correct and isinstance(accepted, list)
        return "".join(sorted(accepted)) if is_several else accepted

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return the letters of a reply, sorted."""
        parse: Callable[..., set[str]] = (
            parse_answers_zh if self.prompt_template in CHINESE else parse_answers
        )
        return "".join(
            sorted(parse(task_state, multiple_correct=self.multiple_correct, completion=prediction))
        )


class MarkedChoiceAdapter(MultiChoiceAdapter):
    """Multiple choice by nel's rule of reading: where EvalScope takes the last capital letter of a
    reply without an answer, such a reply has none.
    """

    def accepted_answers(self, reference: str, task_state: TaskState) -> str | list[str]:
        """Return the right letters, however several of them are written.

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


class VisionLanguageAdapter(MediaReader, DefaultDataAdapter):
    """The adapter of questions about images."""


class AudioLanguageAdapter(DefaultDataAdapter):
    """The adapter of questions about sounds."""
