"""The replay endpoint: recorded outputs over the OpenAI routes. Responsible for the answerer;
finding is in `recordings`.

It refuses whatever was not recorded, log-probabilities included. A recording is served whole;
``max_tokens`` and ``stop`` do not cut it, since a cut output was never recorded.
"""

from __future__ import annotations

from aiohttp import web

from nel.apps.mock.openai_json import MockReply
from nel.apps.mock.recordings import Recordings, ReplayOptions, read_recordings
from nel.apps.mock.request_parsing import EndpointFault, Query
from nel.apps.mock.routes import Answerer, create_app


class ReplayAnswerer(Answerer):
    """Answers each prompt with what was recorded for it."""

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings

    async def answer(self, query: Query) -> MockReply:
        """Return the recorded reply.

        Raises:
            EndpointFault: Nothing was recorded for this prompt, or it is unclear which recording is
                meant.
        """
        if query.max_tokens == 0:
            raise EndpointFault(
                400,
                "unsupported",
                "a replay has recorded texts only; ask for an answer of one token or more",
            )
        return self._recordings.find(query)


def replay_app(
    options: ReplayOptions, *, model: str = "replay", api_key: str | None = None
) -> web.Application:
    """Return the application that serves a recording file.

    Raises:
        DatasetError: The file cannot be read or has an unusable line.
    """
    return create_app(ReplayAnswerer(read_recordings(options)), model=model, api_key=api_key)
