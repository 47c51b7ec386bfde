"""Takes back answers that may belong to another request: their samples are unscored, and asked
again by a resume.

An endpoint that sends two responses to one request puts its connection out of step, and that is
found too late to keep the answers from being stored and scored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from nel.engine.store.codec import encode_outcome
from nel.engine.store.log import Log
from nel.engine.store.rows import RESCORE, RESEND
from nel.models.client import Client
from nel.types import Unscored

_LOG = logging.getLogger(__name__)
_KIND: Final = "unasked_response"
_NAMED_MAX: Final = 12
"""Samples that the terminal names; run.log names up to `_LOGGED_MAX`."""
_LOGGED_MAX: Final = 300


def take_back(store: Log, client: Client | None, judges: Iterable[tuple[str, Client]]) -> list[str]:
    """Take back the doubtful answers of a session, and return what the user should know.

    The session's pipeline has ended.

    Args:
        store: No longer written to by its own thread.
        client: Of the evaluated endpoint, if any.
        judges: Names and clients.
    """
    notes = [
        _take_back(store, other, f"judge {name}") for name, other in judges if other is not client
    ]
    if client is not None:
        notes.append(_take_back(store, client, "the endpoint"))
    return [note for note in notes if note is not None]


def _take_back(store: Log, client: Client, who: str) -> str | None:
    doubtful = client.forget_doubtful()
    if doubtful is None:
        return None
    fact = f"{who} sent a response that no request had asked for"
    if not doubtful:
        return f"{fact}; no answer can have been taken for another"
    is_judge = who.startswith("judge")
    unscored = Unscored(
        cause="judge" if is_judge else "infra",
        kind=_KIND,
        detail=(
            f"{fact}, so this answer may be that to another request; it is asked again by a resume"
        ),
    )
    samples = sorted({(asked.sample_id, asked.repeat) for asked in doubtful})
    with store.transaction():
        for sample_id, repeat in samples:
            store.doubt(
                sample_id, repeat, encode_outcome(unscored), again=RESCORE if is_judge else RESEND
            )
    names = [
        sample_id if repeat == 0 else f"{sample_id} (repeat {repeat})"
        for sample_id, repeat in samples
    ]
    text = f"{fact}; {len(names):,} samples may have got the answer to another and are not scored: "
    _LOG.warning("%s%s", text, _name_list(names, _LOGGED_MAX))
    return text + _name_list(names, _NAMED_MAX)


def _name_list(names: list[str], names_max: int) -> str:
    rest_text = f" and {len(names) - names_max:,} more" if len(names) > names_max else ""
    return ", ".join(names[:names_max]) + rest_text
