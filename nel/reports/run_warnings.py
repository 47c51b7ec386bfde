"""The warnings of a benchmark, for every output: those of metrics.json, made with the artifacts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from nel.types import JsonObject

CALIBRATION: Final = "calibration"
"""The kind of what people's labels say against the judge."""
OF_JUDGES: Final = ("judging", CALIBRATION)


def texts_of(
    metrics: JsonObject, kinds: Collection[str] | None = None, *, but: Collection[str] = ()
) -> list[str]:
    """Return the texts of the warnings in metrics.json, in order.

    Args:
        metrics: The content of the file.
        kinds: Of these alone.
        but: Not of these.
    """
    warnings = metrics.get("warnings") or ()
    return [
        str(warning["text"])
        for warning in warnings
        if warning["kind"] not in but and (kinds is None or warning["kind"] in kinds)
    ]
