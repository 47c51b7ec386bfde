"""BFCL's own run of a multi-turn row: its loop over an endpoint's answers, its decoding and its verdict."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

for needed in (
    "openai",
    "tree_sitter",
    "tree_sitter_java",
    "tree_sitter_javascript",
    "tenacity",
    "overrides",
    "pandas",
):
    pytest.importorskip(needed)
os.environ.setdefault(
    "BFCL_PROJECT_ROOT", tempfile.mkdtemp()
)  # or it makes folders beside its package
_stand_in: Any = ModuleType("bfcl_eval.constants.model_config")
_stand_in.MODEL_CONFIG_MAPPING = {}
sys.modules.setdefault("bfcl_eval.constants.model_config", _stand_in)

from bfcl_eval.constants.enums import ModelStyle  # noqa: E402
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI  # noqa: E402
from bfcl_eval.eval_checker.eval_runner import (  # noqa: E402
    _evaluate_single_agentic_entry,
    _evaluate_single_multi_turn_entry,
)
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils  # noqa: E402
from bfcl_eval.model_handler.api_inference.openai_completion import OpenAICompletionsHandler  # noqa: E402
from bfcl_eval.model_handler.utils import convert_to_tool  # noqa: E402
from bfcl_eval.utils import (  # noqa: E402
    load_dataset_entry,
    load_ground_truth_entry,
    populate_initial_settings_for_memory_test_cases,
    sort_key,
)
from openai.types.chat import ChatCompletion  # noqa: E402

from tests.support.endpoint import Call, Reply  # noqa: E402

NAME = "official"


class ScriptedHandler(OpenAICompletionsHandler):
    """BFCL's handler of OpenAI's models, whose answers a script makes."""

    def __init__(self, script: Callable[[Call, int], Reply]) -> None:
        """Play a script."""
        self.script = script
        super().__init__(NAME, 0, NAME, True)

    def _build_client_kwargs(self) -> dict[str, str]:
        return {"api_key": "none", "base_url": "http://127.0.0.1:9"}

    def generate_with_backoff(self, **asked: Any) -> tuple[ChatCompletion, float]:
        messages = [
            message if isinstance(message, dict) else message.model_dump(exclude_none=True)
            for message in asked["messages"]
        ]
        reply = self.script(Call(body={**asked, "messages": messages}, headers={}, path=""), 0)
        return ChatCompletion.model_validate(
            {"id": "", "created": 0, "object": "chat.completion", **reply.body}
        ), 0.0


def verdicts(category: str, n: int, script: Callable[[Call, int], Reply]) -> dict[str, bool]:
    """Return what BFCL makes of the first n rows of a category that a script answers, by their ids."""
    handler = ScriptedHandler(script)
    entries = load_dataset_entry(category)[:n]
    answers = load_ground_truth_entry(category)[:n]
    valid = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for entry, gold in zip(entries, answers, strict=True):
            made, _ = handler.inference(deepcopy(entry), False, True)
            verdict = _evaluate_single_multi_turn_entry(
                handler, entry["id"], made, gold["ground_truth"], deepcopy(entry), NAME, category
            )
            valid[entry["id"]] = bool(verdict["valid"])
            for name in [name for name in vars(multi_turn_utils) if name.startswith(f"{NAME}_")]:
                delattr(multi_turn_utils, name)
    return valid


def offered_by_turn(category: str) -> dict[str, dict[int, list[dict[str, Any]]]]:
    """Return the tools that are new in each turn of a category's rows, by their ids."""

    def tools(functions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = convert_to_tool(
            functions, GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS
        )
        return made

    return {
        entry["id"]: {
            0: tools(entry["function"]),
            **{int(turn): tools(later) for turn, later in entry.get("missed_function", {}).items()},
        }
        for entry in load_dataset_entry(category)
    }


def memory_verdicts(
    category: str, n: int, script: Callable[[Call, int], Reply], folder: Path
) -> dict[str, bool]:
    """Return what BFCL makes of the first n questions of a memory category, after the conversations before them."""
    handler = ScriptedHandler(script)
    entries = load_dataset_entry(category)
    questions = sorted((entry for entry in entries if "prereq" not in entry["id"]), key=sort_key)[
        :n
    ]
    needed = {name for entry in questions for name in entry["depends_on"]}
    entries = [entry for entry in entries if entry["id"] in needed] + questions
    answers = {answer["id"]: answer["ground_truth"] for answer in load_ground_truth_entry(category)}
    valid = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for entry in populate_initial_settings_for_memory_test_cases(entries, folder):
            made, _ = handler.inference(deepcopy(entry), False, True)
            if "prereq" in entry["id"]:
                continue
            gold = answers[entry["id"].replace(category, "memory")]
            verdict = _evaluate_single_agentic_entry(
                handler, entry["id"], made, gold, deepcopy(entry), NAME, category
            )
            valid[entry["id"]] = bool(verdict["valid"])
    return valid
