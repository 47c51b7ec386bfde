"""The solver that runs an agent of others in the episode's container, by its recipe.

The agent's own loop decides; nel serves its model, counts, and judges what it leaves behind.
"""

from __future__ import annotations

import asyncio
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from nel.authoring.scorer_names import options_of
from nel.environments.agents.gateway import Gateway
from nel.environments.agents.install import TARGET, AgentInstall, architecture
from nel.environments.agents.program import PORT, SETUP
from nel.environments.agents.recipes import Recipe, fill, find_recipe
from nel.episodes.endings import EnvironmentFault, LimitReached
from nel.episodes.episode import Episode
from nel.episodes.solver_names import BoundSolver
from nel.errors import ConfigError
from nel.types import JsonObject, Message, Sample

HOME: Final = "/tmp/nel-agent"  # noqa: S108 - of the container
_LOOK_SECONDS: Final = 0.5
_AFTER_LIMIT_SECONDS: Final = 10.0
"""For an agent to save its work after the answer that names the limit."""
_SECONDS_MAX: Final = 86_400.0
"""Of an agent without a limit of time."""
_OUTPUT_CHARACTERS: Final = 2_000
_NO_PROGRAM: Final = (126, 127)
"""Exit codes of a command that could not be started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSolver(BoundSolver):
    """The solver of one agent."""

    install: AgentInstall

    async def solve(self, sample: Sample, episode: Episode) -> str | None:
        """Run the agent to its end; the final answer is the last text of its model."""
        return await run_agent(self.install.recipe, episode)


def agent_solver(text: str) -> AgentSolver:
    """Return the solver of ``NAME`` or ``NAME,key=value``, as it stands after ``agent:``.

    Raises:
        ConfigError: The agent or an option is unknown.
    """
    name, _, options = text.partition(",")
    name = name.strip()
    if not name or "=" in name:
        raise ConfigError("write the agent's name after agent:, such as agent:mini-swe-agent")
    recipe = find_recipe(name, options_of(f"agent:{name}", options) if options else {})
    identity = {"version": recipe.version, "recipe": recipe.digest}
    return AgentSolver(
        name=f"agent:{recipe.name}",
        function=run_agent,
        options=identity,
        install=AgentInstall.of(recipe),
    )


async def run_agent(recipe: Recipe, episode: Episode) -> str | None:
    """Run an agent while its endpoint is served, and see that it keeps to the episode's limits."""
    episode.note("agent", {"name": recipe.name, "version": recipe.version})
    n_before = episode.accounts.model_calls
    async with Gateway(episode, native_tools=recipe.native_tools) as gateway:
        program = _program(recipe, episode, gateway)
        seconds = min(episode.left().get("wall_seconds", _SECONDS_MAX), _SECONDS_MAX)
        running = asyncio.ensure_future(
            episode.run_program(program, seconds + _AFTER_LIMIT_SECONDS)
        )
        try:
            await _watch(running, episode, gateway)
            ended = await running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    _conclude(recipe, episode, ended, n_answers=episode.accounts.model_calls - n_before)
    return None


async def _watch(running: asyncio.Future[JsonObject], episode: Episode, gateway: Gateway) -> None:
    """Return once the agent has ended; it is killed after a limit, or if the episode is over."""
    while not running.done():
        await asyncio.wait({running}, timeout=_LOOK_SECONDS)
        gateway.note_work()
        ending = episode.ending
        if ending is None and (limit := _time_limit(episode)) is not None:
            episode.ending = limit
            await episode.stop_program()
            return
        if ending is not None:
            # After a limit the agent got an answer that names it, and may save its work.
            if isinstance(ending, LimitReached):
                await asyncio.wait({running}, timeout=_AFTER_LIMIT_SECONDS)
            if not running.done():
                await episode.stop_program()
            return


def _time_limit(episode: Episode) -> LimitReached | None:
    for name in ("work_seconds", "wall_seconds"):
        if episode.left().get(name, 1.0) <= 0:
            return LimitReached(name, getattr(episode.limits, name))
    return None


def _program(recipe: Recipe, episode: Episode, gateway: Gateway) -> dict[str, Any]:
    """Return what is run in the container; `PORT` is filled in there."""
    root = f"http://127.0.0.1:{PORT}"
    values = {
        "agent": TARGET,
        "arch": architecture(),
        "machine": platform.machine(),
        "home": HOME,
        "root_url": root,
        "url": f"{root}/v1",
        "key": gateway.secret,
        "model": episode.model,
        "version": recipe.version,
        "instruction": _instruction(episode.messages),
    }
    env = {name: fill(text, values) for name, text in recipe.env.items()}
    return {
        "argv": [fill(text, values) for text in recipe.command],
        "env": {**env, **_limits_in_words(episode)},
        "files": {fill(path, values): fill(text, values) for path, text in recipe.files.items()},
        "checks": list(_checks(recipe, values, env)),
        "port": gateway.port,
    }


def _limits_in_words(episode: Episode) -> dict[str, str]:
    amounts = episode.left()
    seconds = [amounts[name] for name in ("work_seconds", "wall_seconds") if name in amounts]
    variables = {
        "NEL_DEADLINE_SECONDS": min(seconds, default=None),
        "NEL_STEPS_MAX": amounts.get("steps"),
    }
    return {name: f"{value:.0f}" for name, value in variables.items() if value is not None}


def _checks(recipe: Recipe, values: Mapping[str, str], env: Mapping[str, str]) -> Any:
    """Yield commands that show whether the agent can run in a container."""
    if recipe.python is not None:
        yield {
            "command": ["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            "prints": recipe.python,
            "env": {},
            "problem": (
                f"{recipe.name} is installed for Python {recipe.python} and the container has another"
                f" one (its version below); have it installed for that with"
                f" --solver agent:{recipe.name},python=VERSION"
            ),
        }
    if recipe.prints_version:
        yield {
            "command": [fill(text, values) for text in recipe.prints_version],
            "prints": recipe.version,
            "env": {name: text.replace(PORT, "0") for name, text in env.items()},
            "problem": f"{recipe.name} does not say that it is version {recipe.version}, but",
        }


def _instruction(messages: list[Message]) -> str:
    texts = [message.content for message in messages if isinstance(message.content, str)]
    return "\n\n".join(texts)


def _conclude(recipe: Recipe, episode: Episode, ended: JsonObject, *, n_answers: int) -> None:
    """Note what the agent came to, and raise where it never ran."""
    output = str(ended["output"])[-_OUTPUT_CHARACTERS:]
    code, how = ended["exit"], ended["ended_by"]
    claim = re.search(recipe.claimed_cost, str(ended["output"])) if recipe.claimed_cost else None
    if episode.ending is None:
        noted = {"exit": code, "ended_by": how, "output": output}
        if claim is not None:
            noted["claimed_cost"] = claim[1]
        episode.note("agent_ended", noted)
    # An agent that never got an answer says nothing of the model: a fault of the set-up.
    if not n_answers:
        if episode.ending is not None:
            raise episode.ending
        kind = SETUP if code in _NO_PROGRAM else "never_asked"
        what = "cannot be started" if kind == SETUP else "ended without an answer of the model"
        raise EnvironmentFault(kind, f"{recipe.name} {what} (exit code {code}): {output}")
    if episode.ending is not None:
        raise episode.ending
    if code:
        episode.ended_by = f"agent_exit {code}"
