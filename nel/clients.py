"""What a package needs to bring a protocol of its own to nel, as an entry point of the group
``nel.clients``.

A protocol is an instance of `Wire`: it makes the JSON body of a request and reads the answer. nel
does the rest: retries, limits, deadlines, budget, cache, store and redaction.
"""

from nel.config.schema import EndpointConfig, GenerationConfig
from nel.errors import ConfigError
from nel.models.faults import Fault, fault_of_error_object, fault_of_status, malformed_fault
from nel.models.streams import AnswerStream
from nel.models.wire.base import (
    NotInProtocol,
    Wire,
    data_of,
    image_of,
    merge_body,
    only_text,
    read_text,
    system_apart,
    unknown_part,
)
from nel.types import Generation, Message, Request, Response, Usage

__all__ = [
    "AnswerStream",
    "ConfigError",
    "EndpointConfig",
    "Fault",
    "Generation",
    "GenerationConfig",
    "Message",
    "NotInProtocol",
    "Request",
    "Response",
    "Usage",
    "Wire",
    "data_of",
    "fault_of_error_object",
    "fault_of_status",
    "image_of",
    "malformed_fault",
    "merge_body",
    "only_text",
    "read_text",
    "system_apart",
    "unknown_part",
]
