"""Chooses what answers a benchmark's samples, and what of it is part of a run's identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nel.authoring.benchmark import Benchmark
from nel.config.schema import BenchmarkConfig, SandboxConfig
from nel.engine.scorers.identity import code_digest
from nel.episodes.limits import Limits, least, read_limits
from nel.errors import ConfigError
from nel.types import JsonObject

if TYPE_CHECKING:
    from nel.episodes.solver_names import BoundSolver

_WITH_TOOLS = "react"
_AGENT = "agent:"
"""Before the name of an agent of others, in place of a solver's."""


def solver_of(
    entry: BenchmarkConfig, benchmark: Benchmark, protocol: str
) -> tuple[BoundSolver | None, Limits]:
    """Return the solver of a benchmark in a run, None for one request and one answer, and the
    limits of its episodes.

    Raises:
        PluginError: The solver is not installed, or cannot be imported.
        ConfigError: An option or a limit is unknown, or the protocol has no messages.
    """
    limits = least(
        read_limits(benchmark.limits, f"{benchmark.name}: limits"),
        read_limits(entry.limits, f"benchmarks: {entry.name}: limits"),
        Limits(steps=entry.max_steps),
    )
    solver = None if benchmark.response_field is not None else _solver(entry, benchmark)
    if solver is None:
        return None, limits
    if protocol == "completions" or benchmark.loglikelihood:
        raise ConfigError(
            f"{benchmark.name}: the solver {solver.name} needs a protocol with messages; set"
            " endpoint.protocol: chat"
        )
    return solver, limits


def _solver(entry: BenchmarkConfig, benchmark: Benchmark) -> BoundSolver | None:
    has_tools = benchmark.tools or benchmark.environment is not None
    if entry.solver is None and not (benchmark.solver or has_tools):
        return None
    from nel.episodes.solver_names import bound_solver, find_solver  # noqa: PLC0415 - few runs have episodes

    if entry.solver is None and callable(benchmark.solver):
        return bound_solver(benchmark.solver.__name__, benchmark.solver, {})
    name = entry.solver or benchmark.solver or (_WITH_TOOLS if has_tools else "")
    if isinstance(name, str) and name.startswith(_AGENT):
        return _agent(name.removeprefix(_AGENT), benchmark)
    return find_solver(name) if isinstance(name, str) and name else None


def _agent(text: str, benchmark: Benchmark) -> BoundSolver:
    """Return the solver that runs an agent of others; raises ConfigError as `solver_of`."""
    from nel.environments.agents.solver import agent_solver  # noqa: PLC0415 - few runs have agents
    from nel.environments.toolset import ContainerMaker  # noqa: PLC0415

    solver = agent_solver(text)
    if not isinstance(benchmark.environment, ContainerMaker):
        raise ConfigError(
            f"{benchmark.name}: {solver.name} runs in a container, and the benchmark has none; give"
            " a task folder, or a benchmark with environment=docker(...)"
        )
    return solver


def with_agent(benchmark: Benchmark, solver: BoundSolver | None) -> Benchmark:
    """Return a benchmark whose containers hold the agent that its solver runs, where it does."""
    install = getattr(solver, "install", None)
    bind = getattr(benchmark.environment, "with_agent", None)
    if install is None or bind is None:
        return benchmark
    return replace(benchmark, environment=bind(install))


def solver_fields(
    benchmark: Benchmark, solver: BoundSolver | None, limits: Limits
) -> Mapping[str, Any]:
    """Return the identity's fields on how an episode is driven; none for one answer."""
    if solver is None:
        return {}
    return {
        "solver": {"name": solver.name, "options": dict(solver.options)},
        "solver.rules": code_digest([solver.function]),
        "solver.tools": code_digest(tool_code(benchmark)),
        "solver.environment": _environment_identity(benchmark),
        "solver.limits": limits.as_json(),
        "solver.on_limit": benchmark.on_limit,
    }


def tool_code(benchmark: Benchmark) -> list[Any]:
    """Return the functions of a benchmark's tools, and what makes its environment."""
    if not (benchmark.tools or benchmark.environment):
        return []
    from nel.tools import EnvironmentMaker, tools_of  # noqa: PLC0415 - few runs have episodes

    functions = [tool.function for tool in (*benchmark.tools, *tools_of(benchmark.environment))]
    environment = benchmark.environment
    if isinstance(environment, EnvironmentMaker):
        return [*functions, type(environment)]
    return [*functions, *filter(None, [environment])]


def in_sandbox(benchmark: Benchmark, settings: SandboxConfig) -> Benchmark:
    """Return a benchmark whose environment has a run's settings of the container engine."""
    bind = getattr(benchmark.environment, "with_sandbox", None)
    return benchmark if bind is None else replace(benchmark, environment=bind(settings))


def _environment_identity(benchmark: Benchmark) -> JsonObject | None:
    identity = getattr(benchmark.environment, "identity", None)
    return None if identity is None else identity()
