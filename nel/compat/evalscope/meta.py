"""What a benchmark says of itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from nel.errors import ConfigError, did_you_mean
from nel.types import JsonObject

_FIXED: Final = ("name", "data_adapter")
_ALIASES: Final = {"local_path": "dataset_id"}
_OF_THE_DATASET: Final = ("dataset_revision", "hf_dataset_id", "hf_dataset_revision")


class Tags:
    """What benchmarks are about; any text is a tag, these are the common ones."""

    AGENT = "Agent"
    ARENA = "Arena"
    AUDIO = "Audio"
    CHINESE = "Chinese"
    CODING = "Coding"
    COMMONSENSE = "Commonsense"
    CUSTOM = "Custom"
    DECISION = "Decision"
    FUNCTION_CALLING = "FunctionCalling"
    GROUNDING = "Grounding"
    HALLUCINATION = "Hallucination"
    IMAGE_CAPTIONING = "ImageCaptioning"
    IMAGE_EDITING = "ImageEditing"
    INSTRUCTION_FOLLOWING = "InstructionFollowing"
    KNOWLEDGE = "Knowledge"
    LONG_CONTEXT = "LongContext"
    MATH = "Math"
    MEDICAL = "Medical"
    MT = "MachineTranslation"
    MULTIPLE_CHOICE = "MCQ"
    MULTI_LINGUAL = "MultiLingual"
    MULTI_MODAL = "MultiModal"
    MULTI_TURN = "MultiTurn"
    NER = "NER"
    QA = "QA"
    READING_COMPREHENSION = "ReadingComprehension"
    REASONING = "Reasoning"
    RETRIEVAL = "Retrieval"
    SAFETY = "Safety"
    SPEECH_RECOGNITION = "SpeechRecognition"
    TEXT_TO_IMAGE = "TextToImage"
    TEXT_TO_SPEECH = "TextToSpeech"
    TRANSLATION = "MachineTranslation"
    VIDEO = "Video"
    YES_NO = "Yes/No"


@dataclass(slots=True)
class BenchmarkMeta:
    """What a benchmark says of itself."""

    name: str
    dataset_id: str
    """A hub dataset (``org/name``), a URI, or the path of a file or of a folder of subset files."""
    data_adapter: Any = None
    """The adapter class; `register_benchmark` sets it."""
    subset_list: list[str] = field(default_factory=lambda: ["default"])
    default_subset: str = "default"
    """What is loaded when the subsets come from a field (`reformat_subset`)."""
    few_shot_num: int = 0
    few_shot_random: bool = False
    """Draw examples for each sample by its content, instead of taking the first."""
    train_split: str | None = None
    """Where examples come from."""
    eval_split: str | None = None
    """What is evaluated; ``test`` without it."""
    prompt_template: str | None = None
    """With ``{question}``, for multiple choice ``{choices}`` and ``{letters}`` too."""
    few_shot_prompt_template: str | None = None
    """The same with ``{fewshot}``; without it the examples stand before the prompt."""
    system_prompt: str | None = None
    query_template: str | None = None
    pretty_name: str | None = None
    description: str | None = None
    paper_url: str | None = None
    tags: list[str] = field(default_factory=list)
    filters: dict[str, Any] | None = None
    """Applied in order before `extract_answer`: ``{"remove_until": "</think>"}``."""
    metric_list: list[Any] = field(default_factory=lambda: ["acc"])
    """Names, or ``{name: options}``; the first gives the reward."""
    aggregation: str = "mean"
    """``mean``, ``clipped_mean``, ``mean_and_pass_at_k``, ``…_pass_hat_k`` or ``…_vote_at_k``.

    Those with k are over repeats.
    """
    shuffle_choices: bool = False
    """Show choices in an order drawn by each question's content."""
    extra_params: dict[str, Any] = field(default_factory=dict)
    """Of one's own, each ``{"value": …, "description": …}``."""
    env: list[str] = field(default_factory=list)
    """Names of environment variables that the adapter reads when it scores."""
    dataset_revision: str | None = None
    """The commit of a hub dataset."""
    hf_dataset_id: str | None = None
    """What the dataset is called on Hugging Face, where it is not `dataset_id`."""
    hf_dataset_revision: str | None = None
    """Its commit there, where it is not `dataset_revision`."""
    more: dict[str, Any] = field(default_factory=dict)
    """What EvalScope knows and nel has no use for, as it was given."""

    def with_changes(self, changes: JsonObject) -> BenchmarkMeta:
        """Return the meta with changes, as ``dataset_args`` of a run gives them.

        Filters come before the benchmark's own; `extra_params` change values alone. Another dataset
        has none of the commits and names that were declared for the benchmark's own.

        Raises:
            ConfigError: A key is unknown or fixed, or a value cannot be meant.
        """
        names = [item.name for item in dataclasses.fields(self) if item.name not in _FIXED]
        fields: dict[str, Any] = {}
        for key, value in changes.items():
            name = _ALIASES.get(key, key)
            if name in self.more:
                fields["more"] = {**fields.get("more", self.more), name: value}
                continue
            if name not in names:
                settings = sorted([*names, "limit"])
                hint = (
                    did_you_mean(key, [*settings, *_ALIASES]) or f"; it has {', '.join(settings)}"
                )
                raise ConfigError(f'{self.name}: there is no setting "{key}"{hint}')
            fields[name] = value
        if fields.get("dataset_id", self.dataset_id) != self.dataset_id:
            fields = {**dict.fromkeys(_OF_THE_DATASET), **fields}
        if isinstance(fields.get("filters"), Mapping):
            fields["filters"] = {**fields["filters"], **(self.filters or {})}
        if "extra_params" in fields:
            fields["extra_params"] = self._with_values(fields["extra_params"])
        return dataclasses.replace(self, **fields)

    def _with_values(self, values: Mapping[str, object]) -> dict[str, Any]:
        options = {
            key: dict(item) if isinstance(item, Mapping) else {"value": item}
            for key, item in self.extra_params.items()
        }
        for key, value in values.items():
            if key not in options:
                hint = did_you_mean(key, sorted(options), or_all="; it has ")
                raise ConfigError(f'{self.name}: there is no extra parameter "{key}"{hint}')
            options[key]["value"] = value
        return options
