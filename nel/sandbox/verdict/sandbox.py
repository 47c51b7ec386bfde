"""Programs and their verdicts: a pool of containers with a judge in front."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Final

from nel.errors import SandboxError
from nel.sandbox.isolation.engine import EngineInfo
from nel.sandbox.isolation.languages import PYTHON, Language, find_language
from nel.sandbox.isolation.pool import Ask, ContainerPool, Work
from nel.sandbox.verdict import agent
from nel.sandbox.verdict.judging import ProgramJudge, mode_of
from nel.sandbox.verdict.types import Limits, Program, ProgramVerdict, SandboxSettings

_MODULES: Final = tuple(
    (f"{agent.__name__}.{name}", agent.FOLDER / f"{name}.py") for name in agent.MODULES
)
_CANARY: Final = Program(
    source="def double(x):\n    return 2 * x", tests="assert double(4) == 8", entry_point="double"
)


class Sandbox:
    """Runs programs in hardened containers. Thread-safe; nothing is started before it is needed."""

    def __init__(self, settings: SandboxSettings | None = None) -> None:
        """Prepare a sandbox; the engine is not asked for anything yet."""
        self.settings = settings or SandboxSettings()
        self.pool = ContainerPool(self.settings, _MODULES)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, program: Program) -> ProgramVerdict:
        """Run a program and return its verdict.

        Raises:
            SandboxError: The machinery failed; its `kind` says how. Never the program's fault.
            DatasetError: The tests themselves are of no use.
        """
        return self.submit(program).result()

    def submit(self, program: Program) -> Future[ProgramVerdict]:
        """Queue a program; the future gives what `run` does."""
        language = find_language(program.language)
        limits = program.limits or self.settings.limits

        def judge(ask: Ask) -> ProgramVerdict:
            return ProgramJudge(language, limits, ask).judge(program)

        def of_repeated_death(detail: str) -> ProgramVerdict:
            return ProgramVerdict(verdict="runtime_error", mode=mode_of(program), detail=detail)

        def is_well(ask: Ask) -> bool:
            return not language.has_zygote or self._canary(language, limits, ask).passed

        return self.pool.submit(
            Work(
                language=language,
                memory_mb=limits.memory_mb,
                run=judge,
                is_well=is_well,
                of_repeated_death=of_repeated_death,
            )
        )

    def check(self, languages: Sequence[str] = (PYTHON,)) -> EngineInfo:
        """Make sure that the engine answers, has the images and runs a known-good program.

        Raises:
            SandboxError: It does not, with the next step.
        """
        return self.pool.check([find_language(name) for name in languages], self._check_image)

    def close(self) -> None:
        """End all containers; programs that wait are given up."""
        self.pool.close()

    def _canary(self, language: Language, limits: Limits, ask: Ask) -> ProgramVerdict:
        return ProgramJudge(language, limits, ask).judge(_CANARY)

    def _check_image(self, language: Language, ask: Ask) -> None:
        """Run a known-good program; in other languages a container that starts is enough."""
        if not language.has_zygote:
            return
        verdict = self._canary(language, self.settings.limits, ask)
        if not verdict.passed:
            image = self.pool.image_of(language)
            raise SandboxError(
                f"a known-good program is judged {verdict.verdict} in {image} ({verdict.detail}); "
                f"rebuild the image with: nel sandbox build {language.name}",
                kind="image_broken",
            )
