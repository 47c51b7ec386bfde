"""The run's configuration as pydantic models: every default, bound and flag is written here and
nowhere else.
"""

from nel.config.schema.endpoint import (
    EndpointConfig,
    GenerationConfig,
    JudgeConfig,
    ModelConfig,
    NamedEndpointConfig,
)
from nel.config.schema.limiter import LimiterConfig
from nel.config.schema.run import (
    BenchmarkConfig,
    BudgetConfig,
    CacheConfig,
    EngineConfig,
    ObservabilityConfig,
    OutputConfig,
    Price,
    RunConfig,
    SandboxConfig,
    SandboxLimits,
)
from nel.config.schema.stop import StopConfig
from nel.config.schema.strict import Flag, Strict

__all__ = [
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
