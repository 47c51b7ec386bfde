"""Every error that nel raises on purpose, and the exit code that each one ends a command with::

    NelError                             1   base class; itself never raised
    ├── UsageError                       2   the command, the configuration or the input is wrong
    │   ├── ConfigError                      a key, value or file of the configuration
    │   ├── PluginError                      a plugin that is missing, broken or ambiguous
    │   ├── DatasetError                     a dataset that cannot be read, or its rows used
    │   ├── PromptError                      a template that cannot be parsed, or lacks a field
    │   ├── OutputError                      a run directory that is not writable, or in use
    │   ├── ResumeRefused                    a resume that would mix two run identities
    │   ├── PreflightError                   a wrong URL, key, model or sandbox, before any cost
    │   │   └── JudgePreflightError          the same of a judge, before its first verdict
    │   └── MissingExtra                     an optional dependency that is not installed
    ├── StoreError                       2   a run.db that is damaged or of another format
    ├── StoppedEarly                    75   the endpoint is down or the disk full; resume goes on
    └── SampleError                          one sample becomes `Unscored`; the run goes on
        ├── EndpointError                    no usable answer
        │   └── LogprobFault                 log-probabilities that cannot be scored
        ├── SandboxError                     the sandbox failed, not the program in it
        ├── JudgeError                       no usable verdict
        └── ScorerError                      the scorer raised, or returned no score
            └── UndefinedMetric              a statistic that these values do not have

A class without a code of its own has its parent's. A message says what happened, where, and the
next step. This module imports nothing else of nel.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

EXIT_DONE = 0
EXIT_USAGE = 2
EXIT_UNSCORED = 3
EXIT_GATE_FAILED = 4
EXIT_GATE_INCONCLUSIVE = 5
EXIT_STOPPED_EARLY = 75
EXIT_SIGINT = 130
EXIT_SIGTERM = 143


_CHARACTERS_MAX: Final = 1_800
"""Of the message of a dataset's error."""


def _shorten(message: str) -> str:
    if len(message) <= _CHARACTERS_MAX:
        return message
    half = _CHARACTERS_MAX // 2
    return f"{message[:half]} […] {message[-half:]}"


class NelError(Exception):
    """Base of all errors that nel raises on purpose."""

    exit_code: ClassVar[int] = 1

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in the place of a traceback."""
        return [str(self)]


class UsageError(NelError):
    """The command, the configuration or the input is wrong; no request was paid for."""

    exit_code = EXIT_USAGE


class ConfigError(UsageError):
    """A key, value or file of the configuration is wrong."""


class PluginError(UsageError):
    """A plugin is missing, broken, of the wrong shape, or provided by several packages."""


class DatasetError(UsageError):
    """A dataset cannot be found or read, is empty, or has unusable rows."""

    def __init__(self, message: str) -> None:
        """Keep the message; a very long one, which quotes names of columns, loses its middle."""
        super().__init__(_shorten(message))


class PromptError(UsageError):
    """A template cannot be parsed, is unsafe or names a field that no row has."""


class OutputError(UsageError):
    """A run directory cannot be written, does not exist or is in use by another process."""


class ResumeRefused(UsageError):
    """Resuming this run would mix two run identities."""


class PreflightError(UsageError):
    """The URL, the key, the model or the sandbox is wrong, and no request was paid for."""

    def __init__(
        self, message: str, *, endpoint_kind: str | None, fix: tuple[str, ...] = ()
    ) -> None:
        """Keep the kind of fault and the options that correct it.

        Args:
            message: What happened, where, and the next step.
            endpoint_kind: Of the endpoint's fault, if any; the samples that were not sent have it.
            fix: Options of ``nel eval resume`` that correct it, such as ``("--model-id", "NAME")``.
        """
        super().__init__(message)
        self.endpoint_kind = endpoint_kind
        self.fix = fix


class JudgePreflightError(PreflightError):
    """The URL, the key or the model of a judge is wrong, found before its first verdict."""


class MissingExtra(UsageError):
    """A feature needs an optional dependency that is not installed."""


class StoreError(NelError):
    """A run.db is damaged, or has a format that this version cannot read."""

    exit_code = EXIT_USAGE


class StoppedEarly(NelError):
    """The run stopped before its end and can be resumed."""

    exit_code = EXIT_STOPPED_EARLY

    def __init__(self, message: str, *, endpoint_kind: str | None = None) -> None:
        """Keep the kind of the endpoint's fault, if any."""
        super().__init__(message)
        self.endpoint_kind = endpoint_kind


class SampleError(NelError):
    """A fault of one sample that is not the model's; the sample becomes `Unscored`."""


class EndpointError(SampleError):
    """The endpoint did not return a usable answer."""


class LogprobFault(EndpointError, ValueError):
    """The log-probabilities in the answer to an echo request cannot be scored."""

    def __init__(self, kind: str, message: str) -> None:
        """Keep the kind of fault: ``echo_ignored``, ``shifted``, ``offsets``, ``boundary`` …"""
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[LogprobFault], tuple[str, str]]:
        """Keep the kind when the error is pickled."""
        return LogprobFault, (self.kind, str(self))


class SandboxError(SampleError):
    """The sandbox could not run the program; never the program's fault."""

    def __init__(self, message: str, *, kind: str = "unavailable") -> None:
        """Keep the kind of fault: ``no_engine``, ``no_image``, ``died``, ``disk_full`` …"""
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        """Keep the kind when the error is pickled."""
        return _sandbox_error, (str(self), self.kind)


def _sandbox_error(message: str, kind: str) -> SandboxError:
    return SandboxError(message, kind=kind)


class JudgeError(SampleError):
    """The judge did not give a usable verdict; never a fault of the judged answer."""

    def __init__(self, message: str, *, kind: str = "no_verdict", reply: str = "") -> None:
        """Keep the kind of fault and the unparsed reply.

        Args:
            kind: ``no_verdict``, ``two_verdicts``, ``out_of_range``, ``truncated``, ``no_quorum``,
                ``no_judge``, ``unavailable`` …
            reply: The judge's reply; empty where there is none.
        """
        super().__init__(message)
        self.kind = kind
        self.reply = reply

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        """Keep the kind and the reply when the error is pickled."""
        return _judge_error, (str(self), self.kind, self.reply)


def _judge_error(message: str, kind: str, reply: str) -> JudgeError:
    return JudgeError(message, kind=kind, reply=reply)


class ScorerError(SampleError):
    """The scorer raised, or returned something that is not a score."""


class UndefinedMetric(ScorerError, ValueError):
    """These values do not have the statistic, as none have a mean; the metric is null."""


def did_you_mean(word: str, vocabulary: Iterable[str], *, or_all: str | None = None) -> str:
    """Return ``; did you mean "x"?`` for the nearest word of the vocabulary, or an empty string.

    Args:
        word: What was written.
        vocabulary: What could have been meant.
        or_all: Where no word is near, it and all of them stand in the place of nothing.
    """
    words = list(vocabulary)
    by_folded = {name.lower(): name for name in words}
    near = get_close_matches(word.lower(), by_folded, n=1, cutoff=0.6)
    if near:
        return f'; did you mean "{by_folded[near[0]]}"?'
    return "" if or_all is None else f"{or_all}{', '.join(words) or 'none'}"
