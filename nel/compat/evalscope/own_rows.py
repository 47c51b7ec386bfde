"""The rows of an adapter that loads its samples by methods of its own.

`load_dataset` runs once for each reading of the dataset, in the process that reads it; each of its
samples becomes a row with its subset and messages. What the methods write to ``self`` is not there
when answers are scored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from nel.compat.evalscope.bridge import AdaptedBenchmark
from nel.compat.evalscope.samples import TOOLS_FAULT, ChatMessage, Sample, check_json
from nel.errors import DatasetError, NelError
from nel.types import Message
from nel.types import Sample as NelSample

_KEYS: Final = ("target", "choices", "metadata", "subset_key")


class OwnRows:
    """A function that gives the samples of an adapter's own flow as rows, for messages under the
    adapter's name.
    """

    def __init__(self, adapter: Any) -> None:
        """Take the adapter."""
        self.adapter = adapter
        self.__module__ = "adapter"
        self.__qualname__ = f"{type(adapter).__name__}.load_dataset"

    def __call__(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each sample.

        Raises:
            DatasetError: They cannot be loaded.
        """
        try:
            subsets = self.adapter.load_dataset()
        except NelError:
            raise
        except Exception as error:
            raise DatasetError(
                f"{self.__qualname__} failed: {type(error).__name__}: {error}"
            ) from error
        for subset, samples in subsets.items():
            for sample in samples:
                yield _row(subset, sample)


def _row(subset: str, sample: Sample) -> dict[str, Any]:
    if sample.tools:
        return {"subset": subset, "fault": TOOLS_FAULT}
    asked = sample.input if isinstance(sample.input, list) else [ChatMessage("user", sample.input)]
    try:
        check_json(sample.metadata)
        messages = [
            {"role": message.role, "content": _content(message.content)} for message in asked
        ]
    except Exception as error:  # noqa: BLE001 - of this sample alone: its row says so
        return {"subset": subset, "fault": f"{type(error).__name__}: {error}"}
    return {
        "subset": subset,
        "messages": messages,
        **{name: getattr(sample, name) for name in _KEYS},
    }


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [dict(item) if isinstance(item, Mapping) else item.as_part() for item in content]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLoadBenchmark(AdaptedBenchmark):
    """A benchmark whose adapter loads its samples by methods of its own."""

    places_no_shots: ClassVar[str] = (
        "it loads its own examples; instead of --num-fewshot give args.few_shot_num"
    )

    def _chosen_samples(self, raw: Mapping[str, Any]) -> list[tuple[int | None, str]]:
        """Return the subset of a row, which is one sample."""
        return [(None, str(raw.get("subset")))]

    def sample(self, raw: Mapping[str, Any], *, sample_id: str) -> NelSample:
        """Return the sample of a row that `OwnRows` gave.

        Raises:
            DatasetError: Its messages could not be made, or the row is none of those.
        """
        if "fault" in raw:
            raise DatasetError(str(raw["fault"]))
        if "messages" not in raw:
            raise DatasetError(
                f"{self.name} loads its own rows; name its data with args.local_path=FOLDER"
            )
        messages = raw["messages"]
        only = messages[0] if len(messages) == 1 else None
        is_text = only is not None and only["role"] == "user" and isinstance(only["content"], str)
        return NelSample(
            id=sample_id,
            input=(
                only["content"]
                if only is not None and is_text
                else tuple(map(message_of, messages))
            ),
            target=raw["target"],
            choices=None if raw["choices"] is None else tuple(map(str, raw["choices"])),
            metadata=raw["metadata"] or {},
            subset=str(raw["subset"]),
            recorded_response=self.recorded_in(raw["metadata"] or {}),
        )

    def example_value(self, raw: Mapping[str, Any]) -> str | None:
        """Return the subset that a row belongs to."""
        return str(raw.get("subset"))


def own_benchmark(made: AdaptedBenchmark) -> OwnLoadBenchmark:
    """Return a benchmark with the rows of its adapter's own flow."""
    parts = {item.name: getattr(made, item.name) for item in dataclasses.fields(made) if item.init}
    return OwnLoadBenchmark(**{**parts, "dataset": OwnRows(made.adapter), "num_fewshot": 0})


def message_of(described: Mapping[str, Any]) -> Message:
    """Return the message that a row holds as role and content."""
    content = described["content"]
    return Message(
        role=described["role"], content=content if isinstance(content, str) else tuple(content)
    )
