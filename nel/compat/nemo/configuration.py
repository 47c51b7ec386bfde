"""Recognises a configuration file of NeMo Evaluator, in each of its three forms, and writes what
stands for it in nel.

Nothing is run from such a file: part of what it may hold has no counterpart, and a setting that is
dropped without a word is another evaluation. It is looked at before variables are filled in, so
that no key gets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}")
_SOME_KEY: Final = "MY_KEY"
_SOME_URL: Final = "https://HOST/v1"
_SAME: Final = ("name", "max_problems", "repeats", "system_prompt")
_SAMPLING: Final = ("temperature", "top_p", "max_tokens", "seed", "stop")
_OTHER_BENCHMARKS: Final = {"mmlu": "mmlu_generative"}
"""Those that nel has under another name: its own mmlu ranks the choices by log-likelihood."""
_OTHER_SCORERS: Final = {"mcq_extract": "mcq_letter_extract"}
_COMPLETIONS: Final = ("completions", "completion")
_USUAL_PROTOCOLS: Final = (None, "chat", "chat_completions", *_COMPLETIONS)
_ALWAYS_WRITTEN: Final = ("html", "json", "jsonl")
_WRITERS: Final = ("markdown", "csv", "latex", "junit")


def nemo_file_problem(data: Mapping[str, Any]) -> str | None:
    """Return why a file of NeMo Evaluator is not run and what to write instead; None for any other
    file.
    """
    evaluation = data.get("evaluation")
    if isinstance(evaluation, Mapping) and isinstance(evaluation.get("tasks"), list):
        data = _as_later_form(evaluation) | {
            key: value for key, value in data.items() if key != "evaluation"
        }
    elif "endpoint" in data or not isinstance(data.get("benchmarks"), list):
        return None
    model, services = data.get("model"), data.get("services")
    if not isinstance(services, Mapping) and not (isinstance(model, Mapping) and "id" in model):
        return None
    made = _Translation()
    made.whole(data)
    text = yaml.safe_dump(made.written, sort_keys=False, allow_unicode=True).rstrip()
    left = (
        f"\nNot in it, for nel has no such key there: {', '.join(made.left)}" if made.left else ""
    )
    return f"this is a configuration of NeMo Evaluator; in nel it is\n\n{text}\n{left}"


def _as_later_form(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first form, where all stands below ``evaluation``, as the second."""
    own = {"model_url": "url", "model_id": "id", "api_key": "api_key"}
    model = {new: evaluation[old] for old, new in own.items() if old in evaluation}
    tasks = [
        {("name" if key == "benchmark" else key): value for key, value in task.items()}
        for task in evaluation["tasks"]
        if isinstance(task, Mapping)
    ]
    rest = {key: value for key, value in evaluation.items() if key not in own and key != "tasks"}
    return {"model": model, "benchmarks": tasks, **rest}


@dataclass
class _Translation:
    """What is written so far, and the keys that it leaves out."""

    written: dict[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    services: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    asked: str = ""
    """The service that the endpoint is."""

    def whole(self, data: Mapping[str, Any]) -> None:
        """Write a file of the second or third form."""
        given = data.get("services")
        for name, service in (given if isinstance(given, Mapping) else {}).items():
            if isinstance(service, Mapping):
                self.services[str(name)] = service
        model = data.get("model")
        if isinstance(model, Mapping):
            self.written["endpoint"] = self._endpoint(model, "model")
        entries = [self._benchmark(entry, index) for index, entry in enumerate(data["benchmarks"])]
        endpoint = self.written.pop("endpoint", None) or {"url": _SOME_URL, "model": "NAME"}
        judge = self.written.pop("judge", None)
        self.written = {"endpoint": endpoint, "benchmarks": entries} | (
            {} if judge is None else {"judge": judge}
        )
        output = data.get("output")
        if isinstance(output, Mapping):
            self._output(output)
        known = ("model", "services", "benchmarks", "output")
        self.left += [str(key) for key in data if key not in known]

    def _endpoint(self, given: Mapping[str, Any], where: str) -> dict[str, Any]:
        made = {"url": given.get("url"), "model": given.get("id", given.get("model"))}
        made = {key: value for key, value in made.items() if value is not None}
        if "@" in str(made.get("url")):  # a password may stand before it
            made["url"] = _SOME_URL
        if given.get("api_key"):
            variable = _VARIABLE.fullmatch(str(given["api_key"]))
            made["api_key_env"] = variable[1] if variable else _SOME_KEY
        if given.get("protocol") in _COMPLETIONS:
            made["protocol"] = "completions"
        elif given.get("protocol") not in _USUAL_PROTOCOLS:
            self.left.append(f"{where}.protocol")
        known = ("type", "url", "id", "model", "api_key", "protocol")
        self.left += [f"{where}.{key}" for key in given if key not in known]
        return made

    def _benchmark(self, given: object, index: int) -> object:
        if not isinstance(given, Mapping):
            return _OTHER_BENCHMARKS.get(str(given), given)
        where = f"benchmarks.{index}"
        made: dict[str, Any] = {key: given[key] for key in _SAME if key in given}
        made["name"] = _OTHER_BENCHMARKS.get(str(made.get("name")), made.get("name", "NAME"))
        sampling = {key: given[key] for key in _SAMPLING if key in given}
        self._asked(given, where)
        self._judged(given, where)
        scorers = given.get("scorers", given.get("scoring"))
        only = scorers[0] if isinstance(scorers, list) and len(scorers) == 1 else scorers
        if isinstance(only, str):
            made["scorer"] = _OTHER_SCORERS.get(only, only)
        elif only is not None and not _judges_in(only):
            self.left.append(f"{where}.{'scorers' if 'scorers' in given else 'scoring'}")
        handled = (
            *_SAME,
            *_SAMPLING,
            "model",
            "solver",
            "judge",
            "endpoint_type",
            "scorers",
            "scoring",
        )
        self.left += [f"{where}.{key}" for key in given if key not in handled]
        return made | ({"generation": sampling} if sampling else {})

    def _asked(self, given: Mapping[str, Any], where: str) -> None:
        """Write the endpoint that a benchmark names, which is that of the run."""
        solver = given.get("solver")
        name = given.get("model")
        if isinstance(solver, Mapping):
            name = solver.get("service", name)
            known = (
                ("type", "service") if solver.get("type", "simple") == "simple" else ("service",)
            )
            self.left += [f"{where}.solver.{key}" for key in solver if key not in known]
        service = self.services.get(str(name))
        if service is not None and "endpoint" not in self.written:
            self.written["endpoint"] = self._endpoint(service, f"services.{name}")
            self.asked = str(name)
        elif service is not None and name != self.asked:
            self.left.append(f"{where}, which asks {name} (give it a file of its own)")
        if given.get("endpoint_type") in _COMPLETIONS:
            self.written.setdefault("endpoint", {})["protocol"] = "completions"

    def _judged(self, given: Mapping[str, Any], where: str) -> None:
        judges = _judges_in(given.get("scoring")) or ([given["judge"]] if "judge" in given else [])
        for name in judges:
            service = name if isinstance(name, Mapping) else self.services.get(str(name))
            if service is None:
                self.left.append(f"{where}.judge")
            elif "judge" not in self.written:
                self.written["judge"] = self._endpoint(service, f"services.{name}")

    def _output(self, output: Mapping[str, Any]) -> None:
        made: dict[str, Any] = {"dir": output["dir"]} if "dir" in output else {}
        wanted = output.get("report", output.get("formats", []))
        names = wanted if isinstance(wanted, list) else [wanted]
        if reports := [name for name in names if name in _WRITERS]:
            made["reports"] = reports
        self.left += [
            f"output report {name}" for name in names if name not in (*_WRITERS, *_ALWAYS_WRITTEN)
        ]
        self.left += [f"output.{key}" for key in output if key not in ("dir", "report", "formats")]
        if made:
            self.written["output"] = made


def _judges_in(scoring: object) -> list[Any]:
    """Return the services of the judges of a ``scoring`` section, nothing where it names other
    metrics as well.
    """
    metrics = scoring.get("metrics") if isinstance(scoring, Mapping) else None
    found = metrics if isinstance(metrics, list) else []
    are_judges = all(isinstance(one, Mapping) and one.get("type") == "judge" for one in found)
    return [one.get("service") for one in found] if are_judges else []
