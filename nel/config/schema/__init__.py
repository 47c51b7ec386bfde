"""The run's configuration as pydantic models: the one place of all defaults, bounds and flags."""

from nel.config.schema.benchmark import BenchmarkConfig
from nel.config.schema.endpoint import EndpointConfig, ModelConfig, NamedEndpointConfig
from nel.config.schema.generation import GenerationConfig
from nel.config.schema.judge import JudgeConfig
from nel.config.schema.limiter import LimiterConfig
from nel.config.schema.run import (
    AggregateConfig,
    BudgetConfig,
    CacheConfig,
    EngineConfig,
    ObservabilityConfig,
    OutputConfig,
    Price,
    RunConfig,
)
from nel.config.schema.sandbox import SandboxConfig, SandboxLimits
from nel.config.schema.stop import StopConfig
from nel.config.schema.strict import Flag, Strict

__all__ = [
    "AggregateConfig",
    "BenchmarkConfig",
    "BudgetConfig",
    "CacheConfig",
    "EndpointConfig",
    "EngineConfig",
    "Flag",
    "GenerationConfig",
    "JudgeConfig",
    "LimiterConfig",
    "ModelConfig",
    "NamedEndpointConfig",
    "ObservabilityConfig",
    "OutputConfig",
    "Price",
    "RunConfig",
    "SandboxConfig",
    "SandboxLimits",
    "StopConfig",
    "Strict",
]
