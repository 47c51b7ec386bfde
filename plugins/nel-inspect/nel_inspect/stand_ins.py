"""Models of Inspect that stand for a model while nel runs a task, and send nothing themselves."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def stand_in(provider: str, name: str, *, judge: str | None = None) -> Any:
    """Return a model of Inspect that sends nothing itself; a scorer's call of it goes to the run's
    judges.

    Args:
        provider: What stands before the slash of its name.
        name: What stands behind it.
        judge: The name by which the run knows it; None: its own.
    """
    from inspect_ai._util.registry import RegistryInfo, set_registry_info  # noqa: PLC0415 - heavy
    from inspect_ai.model import GenerateConfig, Model  # noqa: PLC0415 - heavy

    api = _stand_in_api()(model_name=name)
    api.nel_judge = judge
    set_registry_info(api, RegistryInfo(type="modelapi", name=f"inspect_ai/{provider}"))
    return Model(api, GenerateConfig())


@lru_cache(maxsize=1)
def _stand_in_api() -> Any:
    """Return the provider of models that send nothing."""
    from inspect_ai.model import ModelAPI  # noqa: PLC0415 - heavy

    return type("StandIn", (ModelAPI,), {"nel_judge": None, "generate": _refuse})


async def _refuse(stand_in: Any, *_: Any, **__: Any) -> Any:
    raise RuntimeError(
        f"{stand_in.model_name} stands for a model while nel runs a task, and was kept beyond that"
    )
