"""EvalScope's IFEval on nel's checks of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nel.benchmarks.instructions.rules import follows, loose_variants, parameters_of

__all__ = ["process_results"]


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Return the shares of prompts and of instructions that a reply follows, strictly and loosely.

    Raises:
        ValueError: An instruction is unknown or lacks a parameter.
    """
    checks = [
        (name, parameters_of(name, parameters or {}))
        for name, parameters in zip(doc["instruction_id_list"], doc["kwargs"], strict=True)
    ]
    shares = {}
    for kind, texts in (("strict", [results[0]]), ("loose", loose_variants(results[0]))):
        followed = [any(follows(text, *check) for text in texts) for check in checks]
        shares[f"prompt_level_{kind}"] = float(all(followed))
        shares[f"inst_level_{kind}"] = sum(followed) / len(followed) if followed else 0
    return shares
