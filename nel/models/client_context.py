"""What the clients of one session share: counts, ledger, cache, randomness, secrets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nel.config.schema import BudgetConfig
from nel.models.budget import Ledger
from nel.models.transport import Transport

if TYPE_CHECKING:
    from nel.models.cache import ResponseCache


@dataclass(slots=True)
class ClientCounters:
    """What the progress line shows; counts attempts, not samples."""

    attempts: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientContext:
    """What the clients of one session share."""

    counters: ClientCounters = field(default_factory=ClientCounters)
    """Where attempts and retries are counted."""
    ledger: Ledger = field(default_factory=lambda: Ledger(BudgetConfig()))
    """Of everything that the run pays for."""
    cache: ResponseCache | None = None
    """Answers from earlier runs."""
    jitter: Callable[[], float] = random.random
    """Returns numbers in [0, 1), for the back-off."""
    transport: Transport | None = None
    """What sends; HTTP where it is None."""
    run_id: str = ""
    """Part of the idempotency keys, so that two runs never share one."""
    secrets: Iterable[str | None] = ()
    """Keys of the run's other endpoints: removed from answers, as the client's own is."""
    scratch_directory: Path | None = None
    """Where `Client.forget_doubtful` keeps what it needs; without one it finds nothing."""
