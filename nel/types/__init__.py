"""The core data types of nel. Does no I/O and imports nothing else of nel.

    Sample -> Request -> Response -> Outcome -> metrics -> artifacts

All are frozen but `ScorerInput`, which scorers written for other tools modify. A `Sample` has no
position: its id is the row's own or a hash of the row, so that the order of a dataset changes no
result.
"""

from __future__ import annotations

from nel.types.answers import (
    Border,
    ChoiceScore,
    Response,
    ResponseError,
    Usage,
)
from nel.types.questions import (
    SECOND_ASKING,
    FailureKind,
    Generation,
    GoldKind,
    Json,
    JsonObject,
    Message,
    Native,
    Protocol,
    Request,
    Row,
    Sample,
    SampleKey,
    ToolCall,
    UnscoredCause,
    Value,
    value_class,
)
from nel.types.scores import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    PARTIAL,
    UNCHANGED,
    ModelFailure,
    Outcome,
    SampleScore,
    Score,
    Scored,
    ScoreEdit,
    Scorer,
    ScorerInput,
    ScorerResult,
    Unscored,
)

__all__ = [
    "CORRECT",
    "INCORRECT",
    "NOANSWER",
    "PARTIAL",
    "SECOND_ASKING",
    "UNCHANGED",
    "Border",
    "ChoiceScore",
    "FailureKind",
    "Generation",
    "GoldKind",
    "Json",
    "JsonObject",
    "Message",
    "ModelFailure",
    "Native",
    "Outcome",
    "Protocol",
    "Request",
    "Response",
    "ResponseError",
    "Row",
    "Sample",
    "SampleKey",
    "SampleScore",
    "Score",
    "ScoreEdit",
    "Scored",
    "Scorer",
    "ScorerInput",
    "ScorerResult",
    "ToolCall",
    "Unscored",
    "UnscoredCause",
    "Usage",
    "Value",
    "value_class",
]
