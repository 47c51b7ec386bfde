"""Opens the clients of a session, joins them to the limiter of its configuration, and keeps what
became of that. Sends nothing to an endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from nel.config.redaction import read_secret, redact_url
from nel.config.schema import EndpointConfig, RunConfig
from nel.config.schema.shard import read_shard
from nel.core.observer import UNOBSERVED, Observer
from nel.errors import ConfigError, PreflightError
from nel.models.client import Client
from nel.models.client_context import ClientContext
from nel.models.pacing import pace_of

if TYPE_CHECKING:
    from nel.models.limiter.shared_gate import LimiterUse, SharedGate


@dataclass(slots=True, kw_only=True)
class SharedLimits:
    """The gates of one session that a limiter decides for."""

    config: RunConfig
    jitter: Callable[[], float]
    used: dict[str, LimiterUse] = field(default_factory=dict)
    """By endpoint."""

    async def open_client(
        self,
        clients: AsyncExitStack,
        endpoint: EndpointConfig,
        *,
        concurrency: int,
        own_max: int,
        api_key: str | None,
        context: ClientContext,
        observer: Observer = UNOBSERVED,
    ) -> Client:
        """Return an open client of an endpoint, whose gate has joined the limiter where there is
        one.

        Args:
            clients: Closes it.
            endpoint: The endpoint.
            concurrency: Requests in flight of all runs together.
            own_max: Requests in flight that this process may have.
            api_key: Of the endpoint.
            context: What the clients of a session share.
            observer: Is notified of retries and answers.

        Raises:
            ConfigError, PreflightError: As `_gate`.
        """
        client = Client(
            endpoint,
            gate=await self._gate(clients, endpoint, concurrency=concurrency, own_max=own_max),
            api_key=api_key,
            connections=own_max,
            price=self.config.budget.prices.get(endpoint.model),
            observer=observer,
            context=context,
        )
        return await clients.enter_async_context(client)

    async def _gate(
        self, clients: AsyncExitStack, endpoint: EndpointConfig, *, concurrency: int, own_max: int
    ) -> SharedGate | None:
        """Return a gate that has joined the limiter, None where the configuration names none.

        Args:
            clients: Leaves the limiter at its end.
            endpoint: The endpoint.
            concurrency: Requests in flight of all runs together.
            own_max: Requests in flight that this process may have.

        Raises:
            ConfigError: There are more shards than requests in flight.
            PreflightError: The limiter does not take this run, or cannot be reached and nothing
                else bounds the run.
        """
        limiter = self.config.limiter
        if limiter.url is None:
            return None
        # Few runs have a limiter, and the last of these loads aiohttp.
        from nel.models.limiter.messages import LimiterRefused, LimiterUnreachable  # noqa: PLC0415
        from nel.models.limiter.shared_gate import SharedGate  # noqa: PLC0415
        from nel.models.limiter.websocket import connector  # noqa: PLC0415

        parts = None if self.config.shard is None else read_shard(self.config.shard).of
        if parts is not None and parts > concurrency:
            raise ConfigError(
                f"{parts:,} shards cannot share {concurrency:,} requests in flight, as they would"
                f" have to without the limiter; set --concurrency to {parts:,} at least"
            )
        name = f"{redact_url(endpoint.url)} {endpoint.model}"
        gate = SharedGate(
            pace_of(endpoint, concurrency),
            endpoint=name,
            connect=connector(limiter.url, read_secret(limiter.token_env)),
            parts=parts,
            own_max=own_max,
            jitter=self.jitter,
        )
        try:
            await gate.open()
        except LimiterRefused as error:
            raise PreflightError(
                f"the limiter at {limiter.url} refuses: {error}", endpoint_kind=None
            ) from error
        except LimiterUnreachable as error:
            raise PreflightError(
                f"the limiter at {limiter.url} cannot be reached ({error}); start it with nel"
                " limiter serve, or leave it out (-O limiter.url=null)",
                endpoint_kind=None,
            ) from error
        clients.push_async_callback(gate.aclose)
        self.used[name] = gate.use
        return gate

    def facts(self) -> list[dict[str, object]]:
        """Return as JSON what the session had of the limiter at each endpoint."""
        url = self.config.limiter.url
        return [{"url": url, "endpoint": name, **asdict(use)} for name, use in self.used.items()]

    def notes(self) -> list[str]:
        """Return what a user should know."""
        url = self.config.limiter.url
        return [
            f"the limiter at {url} was lost {_times(use.times_lost)}; for {use.seconds_alone:,.0f}"
            f" s this run went on with 1/{use.parts:,} of each limit of {name.partition(' ')[0]}"
            for name, use in self.used.items()
            if use.times_lost
        ]


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"
