"""EvalScope's adapters of programs on nel's sandbox: how code is taken out of a reply, and what
came of running it.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from nel.compat.evalscope.proceedings import note_fault, note_verdict
from nel.errors import ConfigError, NelError, SandboxError
from nel.scoring.code_execution import sandbox_of
from nel.scoring.protocol import scored_now
from nel.types import ScorerInput

__all__ = [
    "CodeExecutionSandboxMixin",
    "DockerImageSpec",
    "extract_code_from_freeform_completion",
]

# ``python``, ``python3.11-slim``, ``python:3.11``; what follows may name packages.
_PLAIN_IMAGE: Final = re.compile(r"python[\d.]*(?:[:-]|$)")
_OWN_INPUT: Final = re.compile(
    r"\s*import io\s+import sys\s+(?:#[^\n]*\s+)?sys\.stdin = io\.TextIOWrapper\("
)
"""Starts a program that is given its input, so that its output is what is judged."""
_MISSING: Final = re.compile(r"No module named '(?P<name>\w+)")
# Appended to a program: only one that reaches its end writes the token, which it cannot know.
_MARK: Final = """

import os as _nel_os, sys as _nel_sys
_nel_sys.stdout.flush()
_nel_os.write(1, b"{token}")
"""
_ENDED: Final = ("passed", "wrong")
"""Verdicts on a program that ended well, whatever it wrote."""


@dataclass(kw_only=True)
class DockerImageSpec:
    """An image that EvalScope would build."""

    name_prefix: str
    context_dir: str = ""
    dockerfile: str = ""
    cache_key_parts: list[str] = field(default_factory=list)
    force_rebuild: bool = False


class CodeExecutionSandboxMixin:
    """Runs programs that hold their own tests in nel's sandbox."""

    meta: Any
    needs_sandbox = True
    use_sandbox = True

    def __init__(self, **options: Any) -> None:
        """Take what an adapter takes.

        Raises:
            ConfigError: The programs need an image that nel does not have.
        """
        super().__init__(**options)
        image = self._image()
        if not _PLAIN_IMAGE.match(image):
            raise ConfigError(
                f"{self.meta.name} runs its programs in the image {image}; nel's sandbox runs"
                " those that need Python alone"
            )

    def get_sandbox_image_spec(self) -> DockerImageSpec | None:
        """Return the image that EvalScope would build."""
        return None

    def execute_code_in_sandbox(
        self, code: str | list[str], timeout: float | None = 60, language: str = "python"
    ) -> dict[str, Any]:
        """Run a program and return its ``status``, ``output`` and ``error``.

        The status is ``success`` where the program reached its end: one that ends itself before
        its tests has not passed them. A program that is given its input may end where it likes.

        Raises:
            SandboxError: The machinery failed. The sample is unscored, whatever the caller makes
                of it.
        """
        try:
            return self._execute(
                code if isinstance(code, str) else "\n".join(code), timeout, language
            )
        except NelError as error:
            note_fault(error)
            raise

    def _execute(self, code: str, timeout: float | None, language: str) -> dict[str, Any]:
        from nel.sandbox import (  # noqa: PLC0415 - the sandbox is loaded when a program is to be run
            Limits,
            Program,
            StdinCase,
        )

        if language.lower() != "python":
            raise ConfigError(f"nel's sandbox runs Python for adapters, not {language}")
        token = secrets.token_hex(16)
        program = Program(
            source=code + _MARK.format(token=token),
            cases=(StdinCase(stdin="", expected_output=""),),
            mode="shared",
            limits=None if not timeout else Limits(cpu_seconds=timeout, idle_seconds=timeout),
        )
        verdict = sandbox_of(scored_now() or ScorerInput(response="", target="")).run(program)
        # An image such as python3.11-numpy says that programs need numpy: to lack it is a fault of
        # the sandbox, while any other missing module is the program's.
        import_error = _MISSING.search(verdict.stderr)
        if import_error and import_error["name"] in re.split("[-:]", self._image())[1:]:
            raise SandboxError(
                f"the sandbox has no {import_error['name']}, which {self.meta.name} needs; build it with:"
                f" nel sandbox build python --packages {import_error['name']}",
                kind="no_image",
            )
        note_verdict(verdict)
        # A program that fails, one that reached its end, one that is judged by its output, and one
        # that ended by itself before its tests.
        output, mark, _ = verdict.stdout.rpartition(token)
        if verdict.verdict not in _ENDED:
            status = "timeout" if verdict.verdict == "timeout" else "error"
            fault = verdict.stderr or verdict.detail
        elif mark:
            return {"status": "success", "output": output, "error": ""}
        elif _OWN_INPUT.match(code):
            status, fault = "success", ""
        else:
            status, fault = "error", "it ended before its tests did"
        return {"status": status, "output": verdict.stdout, "error": fault}

    def _image(self) -> str:
        return str((self.meta.more.get("sandbox_config") or {}).get("image") or "python")


_FENCED: Final = re.compile(r"```([^\n]*)\n(.*?)\n\s*```", re.DOTALL)
_UNFINISHED: Final = re.compile(r"```([^\n]*)\n(.*)", re.DOTALL)
_DEFINITION: Final = re.compile(
    r"(?:^(?:import|from|#)[^\n]+\n)*^(?:def|class) [^\n]+\n(?:\s+[^\n]+\n)+", re.MULTILINE
)
_MAIN: Final = 'if __name__ == "__main__":'
_EXAMPLE: Final = "# Example usage"


def extract_code_from_freeform_completion(
    completion: str, language: str = "", first_block_only: bool = False, **options: object
) -> tuple[str, str]:
    """Return the Python of a reply and how it was found.

    That is its fenced blocks, else one without an end, else its functions and classes.

    Raises:
        ConfigError: Another language or a further option is asked for.

    >>> extract_code_from_freeform_completion("So:\\n```python\\nx = 1\\n```\\n", "python")
    ('x = 1', 'fenced')
    >>> extract_code_from_freeform_completion("none", "python")
    ('', 'empty')
    """
    if language != "python" or options:
        fault = ConfigError(
            f"nel takes Python out of a reply, without {', '.join(sorted(options)) or language}"
        )
        note_fault(fault)
        raise fault
    for kind, blocks in (
        ("fenced", [match[2] for match in _FENCED.finditer(completion)]),
        ("incomplete_fenced", [match[2] for match in _UNFINISHED.finditer(completion)]),
        ("heuristic", _DEFINITION.findall(_without_blank_lines(completion))),
    ):
        if blocks:
            code = "\n\n".join(blocks[:1] if first_block_only else blocks).replace("\r", "")
            return _before(_before(code, _MAIN), _EXAMPLE), kind
    return "", "empty"


def _without_blank_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip()) + "\n"


def _before(code: str, mark: str) -> str:
    """Return what stands before a mark, stripped; without one the code as it is."""
    return code.partition(mark)[0].strip() if mark in code else code
