"""NeMo Evaluator's several turns: ``extra={"strategy": "multi_turn", "turns_field": "questions"}``.

Depends on errors alone. The turns of the field are asked as they stand, whatever the prompt says,
each after the answer to the one before; the scorer is called once, with the whole conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.errors import ConfigError

__all__ = ["with_strategy"]

_PROMPT: Final = "{turn}"
_MULTI_TURN: Final = "multi_turn"
_STANDARD: Final = (None, "standard")


def with_strategy(
    name: str, fields: Mapping[str, Any], texts: Mapping[str, str | None]
) -> tuple[Mapping[str, Any], Mapping[str, str | None]]:
    """Return the fields and templates of a benchmark with the strategy that its ``extra`` names.

    Args:
        name: Of the benchmark, for messages.
        fields: As its file gives them.
        texts: Its templates by role.

    Raises:
        ConfigError: It names another strategy or no field with turns, or cannot be asked in turns.
    """
    field = _field_of_turns(name, fields["extra"])
    if field is None:
        return fields, texts
    if fields["protocol"] == "completions":
        raise ConfigError(
            f'"{name}": several turns need a chat endpoint, and endpoint_type names another'
        )
    if fields.get("response_field") is not None:
        raise ConfigError(
            f'"{name}": response_field holds one answer, and a conversation has several'
        )
    turns = {"turns_field": field, "scores_conversation": True, "protocol": "chat"}
    return {**fields, **turns}, {**texts, "prompt": _PROMPT}


def _field_of_turns(name: str, extra: Mapping[str, object]) -> str | None:
    strategy = extra.get("strategy")
    if strategy in _STANDARD:
        return None
    if strategy != _MULTI_TURN:
        raise ConfigError(
            f'"{name}": extra names the strategy {strategy!r}, which nel does not have; it has'
            f' "{_MULTI_TURN}"'
        )
    field = extra.get("turns_field")
    if not isinstance(field, str) or not field:
        raise ConfigError(
            f'"{name}": the strategy "{_MULTI_TURN}" needs turns_field, the field with the list of'
            " turns"
        )
    return field
