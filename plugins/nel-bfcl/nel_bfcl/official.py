"""What is used of bfcl-eval: its data files and its two checkers, as they are.

Everything is imported when a benchmark is opened, so that nel can list it without bfcl-eval. Of its
dependencies only mpmath is imported.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from nel.errors import MissingExtra
from nel.types import JsonObject

_MODELS: Final = "bfcl_eval.constants.model_config"
_JUDGED: Final = "nel_judged"
_STOPPED: Final = "multi_turn:force_terminated"


def read_lines(*path: str) -> list[dict[str, Any]]:
    """Return the rows of a data file.

    Raises:
        MissingExtra: bfcl-eval is not installed.
    """
    try:
        resource = files("bfcl_eval").joinpath("data", *path)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "the BFCL benchmarks need bfcl-eval's data and checkers; install them with: pip install"
            " --no-deps bfcl-eval"
        ) from error
    return [json.loads(line) for line in resource.read_text(encoding="utf-8").splitlines()]


def dataset_of(
    rows_of: Callable[[str], Iterable[dict[str, Any]]], category: str
) -> Callable[[], Iterable[dict[str, Any]]]:
    """Return a category's rows as a dataset that has the category's name."""

    def rows() -> Iterable[dict[str, Any]]:
        return rows_of(category)

    rows.__qualname__ = category
    return rows


def import_classes(names: Iterable[str]) -> None:
    """Import the classes of multi-turn rows before processes are forked, each of which would import
    them for itself.
    """
    from bfcl_eval.constants.executable_backend_config import (  # noqa: PLC0415
        CLASS_FILE_PATH_MAPPING as MODULES,
    )

    # BFCL makes folders for its own results where it is imported, which may be read-only.
    os.environ.setdefault("BFCL_PROJECT_ROOT", str(Path(tempfile.gettempdir(), "nel-bfcl")))
    for name in names:
        try:
            import_module(MODULES[name])
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"{name} of BFCL needs {error.name}; install what nel-bfcl depends on: pip install"
                " rank-bm25 overrides"
            ) from error


@cache
def ast_checkers() -> ModuleType:
    """Return the module that compares one answer's calls with the possible ones.

    It imports the table of BFCL's models, and so every vendor's SDK, to look up whether a model's
    function names may have dots. None of the names that it is given here has one.
    """
    absent = _MODELS not in sys.modules
    if absent:
        stand_in: Any = ModuleType(_MODELS)
        stand_in.MODEL_CONFIG_MAPPING = {}
        sys.modules[_MODELS] = stand_in
    try:
        from bfcl_eval.eval_checker.ast_eval import ast_checker  # noqa: PLC0415
    finally:
        if absent:
            del sys.modules[_MODELS]
    module: ModuleType = ast_checker
    return module


def check_calls(
    functions: Sequence[JsonObject],
    calls: Sequence[JsonObject],
    possible: Sequence[JsonObject],
    *,
    category: str,
    language: str,
) -> dict[str, Any]:
    """Return BFCL's verdict on the calls of one answer: ``valid``, ``error`` and ``error_type``.

    Args:
        functions: Their descriptions in BFCL's own words; no name has a dot.
        calls: Each ``{name: arguments}``.
        possible: The calls that are right, each argument with the values that are.
        category: Decides whether order and number of calls count.
        language: ``python``, ``java`` or ``javascript``.
    """
    from bfcl_eval.constants.enums import Language  # noqa: PLC0415

    check = ast_checkers().ast_checker
    verdict: dict[str, Any] = check(functions, calls, possible, Language(language), category, "nel")
    return verdict


def run_calls(
    row: Mapping[str, Any], calls: Sequence[str], *, name: str
) -> tuple[list[str], dict[str, Any]]:
    """Return the results of calls and the objects that they acted on, as BFCL runs them.

    Args:
        row: Of a multi-turn category.
        calls: As Python source, which BFCL evaluates.
        name: Names the objects, which live until `forget_objects`.
    """
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils  # noqa: PLC0415

    results: list[str]
    objects: dict[str, Any]
    results, objects = multi_turn_utils.execute_multi_turn_func_call(
        list(calls),
        json.loads(row["initial_config"]),
        row["involved_classes"],
        name,
        row["id"],
        long_context="long_context" in row["id"],
    )
    return results, objects


def place_object(row: Mapping[str, Any], *, name: str) -> None:
    """Make the one object of a row that `run_calls` acts on, without a first state."""
    from bfcl_eval.constants.executable_backend_config import (  # noqa: PLC0415
        CLASS_FILE_PATH_MAPPING as MODULES,
    )
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils  # noqa: PLC0415

    (class_name,) = row["involved_classes"]
    variable = re.sub(r"[-./:]", "_", f"{name}_{row['id']}_{class_name}_instance")
    vars(multi_turn_utils)[variable] = getattr(import_module(MODULES[class_name]), class_name)()


def check_answer(text: str, possible: Sequence[str]) -> dict[str, Any]:
    """Return BFCL's verdict on a final text: ``valid``, ``error_message`` and ``error_type``."""
    from bfcl_eval.eval_checker.agentic_eval.agentic_checker import (  # noqa: PLC0415
        agentic_checker,
    )

    verdict: dict[str, Any] = agentic_checker(text, list(possible))
    return verdict


def forget_objects(name: str) -> None:
    """Drop the objects of a name, which BFCL keeps as global variables."""
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils  # noqa: PLC0415

    variables = vars(multi_turn_utils)
    for variable in [variable for variable in variables if variable.startswith(f"{name}_")]:
        del variables[variable]


def check_turns(
    row: Mapping[str, Any], gold: Sequence[Sequence[str]], turns: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return BFCL's verdict on the calls of every turn: ``valid``, ``error_message``,
    ``error_type``.

    Its checker runs them and the gold calls on new objects and compares states and results after
    each turn; in which step of its turn a call was made does not matter to it.
    """
    from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_checker  # noqa: PLC0415

    if len(turns) != len(gold):
        message = f"the model was stopped in turn {len(turns)} of {len(gold)}"
        return {"valid": False, "error_type": _STOPPED, "error_message": message}
    steps = [[list(calls)] if calls else [] for calls in turns]
    entry = {**row, "initial_config": json.loads(row["initial_config"])}
    forget_objects(_JUDGED)
    try:
        verdict: dict[str, Any] = multi_turn_checker.multi_turn_checker(
            steps, [list(calls) for calls in gold], entry, "", _JUDGED
        )
    finally:
        forget_objects(_JUDGED)
    return verdict
