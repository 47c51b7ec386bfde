"""The service that shares the limits of endpoints among runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import field_validator, model_validator

from nel.config.schema.addresses import service_url, variable_name
from nel.config.schema.strict import Flag, Strict


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
        url = service_url(
            url,
            what="the URL of a limiter",
            example="http://127.0.0.1:9191",
            secret="name the variable of its token in token_env",  # noqa: S106 - words
        )
        return None if url is None else url.rstrip("/")

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
