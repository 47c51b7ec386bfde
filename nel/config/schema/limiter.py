"""The service that shares the limits of endpoints among runs."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import field_validator, model_validator

from nel.config.schema.strict import Flag, Strict
from nel.config.schema.variables import variable_name


class LimiterConfig(Strict):
    """Limits that hold for several runs or shards together; nothing here can change an answer."""

    url: Annotated[
        str | None,
        Flag(
            "--limiter",
            "URL of nel limiter serve: the limits hold for all runs that name it together.",
        ),
    ] = None
    """Of ``nel limiter serve``: the concurrency and the rates of each endpoint hold for all runs
    together that name it. None: they hold for this run."""
    token_env: Annotated[
        str | None, Flag("--limiter-token-env", "Name of the variable with the limiter's token.")
    ] = None
    """Name of the environment variable that holds its token; never the token itself."""

    @field_validator("url")
    @classmethod
    def _plain_url(cls, url: str | None) -> str | None:
        if url is None:
            return None
        try:
            parts = urlsplit(url.strip())
            is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            is_usable = False
        if not is_usable:
            raise ValueError(
                f"{url!r} is not the URL of a limiter; give one like http://127.0.0.1:9191"
            )
        # Either may be secret, and URLs are shown.
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "the URL holds a user name or a query; name the variable of its token in token_env"
            )
        return url.strip().rstrip("/")

    @field_validator("token_env")
    @classmethod
    def _name_not_token(cls, name: str | None) -> str | None:
        return variable_name(name, field="limiter.token_env", secret="the token itself")  # noqa: S106 - words

    @model_validator(mode="after")
    def _a_token_has_a_limiter(self) -> LimiterConfig:
        if self.token_env is not None and self.url is None:
            raise ValueError(
                "limiter.token_env is given and limiter.url is not; name the limiter with"
                " --limiter URL"
            )
        return self
