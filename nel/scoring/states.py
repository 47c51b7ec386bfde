"""What a scorer in Inspect's form is called with: a state and a target, and the ways to a sample.

Depends on `nel.types` and `nel.scoring.golds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, overload

from nel.scoring.golds import spellings
from nel.types import Message, ScorerInput


class Target(Sequence[str]):
    """One or more accepted answers.

    >>> target = Target(["60", "60%"])
    >>> len(target), target[0], target.text
    (2, '60', '6060%')
    """

    def __init__(self, target: str | Sequence[object]) -> None:
        """Take one answer or several; a whole float is accepted in both spellings."""
        several = [target] if isinstance(target, str) else target
        self.target = spellings(list(several))
        self.text = "".join(map(str, several))
        """All answers joined without a separator, as Inspect has it."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self.target[index]

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return f"Target({self.target!r})"


@dataclass(slots=True)
class ModelOutput:
    """What the model answered."""

    completion: str
    """The answer, without reasoning."""
    model: str | None = None


@dataclass(slots=True)
class TaskState:
    """One answered sample, as ``(state, target)`` scorers see it."""

    output: ModelOutput
    metadata: dict[str, Any] = dataclass_field(default_factory=dict)
    """The dataset row."""
    input: str | tuple[Message, ...] = ""
    """The prompt, or the messages of a chat."""
    choices: tuple[str, ...] = ()
    sample_id: str | None = None
    epoch: int = 1
    """Which repeat, from 1."""
    messages: list[dict[str, Any]] = dataclass_field(default_factory=list)
    """The conversation, the answer included."""
    target: Target = dataclass_field(default_factory=lambda: Target([]))
    sample: ScorerInput | None = None
    """The same as a `ScorerInput`."""

    @property
    def input_text(self) -> str:
        """Return the prompt as text: the last user message of a chat."""
        if isinstance(self.input, str):
            return self.input
        texts = [message.content for message in self.input if message.role == "user"]
        return str(texts[-1]) if texts else ""

    @property
    def user_prompt(self) -> str:
        """Return the last user message."""
        return self.input_text


def state_of(sample: ScorerInput) -> TaskState:
    """Return a `ScorerInput` as the state that ``(state, target)`` scorers take."""
    dataset_sample = sample.sample
    return TaskState(
        output=ModelOutput(completion=sample.response),
        metadata=sample.metadata,
        input="" if dataset_sample is None else dataset_sample.input,
        choices=() if dataset_sample is None else dataset_sample.choices or (),
        sample_id=None if dataset_sample is None else dataset_sample.id,
        epoch=sample.repeat + 1,
        messages=list(sample.conversation or ()),
        target=target_of(sample),
        sample=sample,
    )


def sample_of(state: TaskState, target: Target) -> ScorerInput:
    """Return a state, as it is now, and its target as a `ScorerInput`."""
    gold = target.target[0] if len(target) == 1 else target.target
    sample = ScorerInput(response=state.output.completion, target=gold, metadata=state.metadata)
    if state.sample is None:
        return sample
    return replace(state.sample, response=sample.response, target=gold, metadata=state.metadata)


def target_of(sample: ScorerInput) -> Target:
    """Return the gold answer as a `Target`."""
    targets = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    return Target([target for target in targets if target is not None])
