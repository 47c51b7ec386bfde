"""`@tool`: a typed function becomes a tool whose JSON Schema is made of its signature.

Depends on pydantic, which makes the schema, and on jsonschema, which checks arguments against it:
``"3"`` is not 3, since nothing is coerced.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MethodType
from typing import Any, Final, Literal, TypeAlias, get_type_hints, overload

import jsonschema
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PydanticUserError,
    ValidationError,
    create_model,
)

from nel.errors import ConfigError
from nel.types import JsonObject, Sample

OnInterrupt: TypeAlias = Literal["again", "tell", "restart"]
NAME_CHARACTERS_MAX: Final = 64
"""Of a tool's name; vendors refuse longer ones."""
ANY_NAME: Final = "*"
"""Of a tool that a `Toolset` has beside those it offers: it runs the calls of every other name."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INJECTED: Final = (Sample,)
"""Types of parameters that nel fills in; the model is not shown them."""
_PROBLEMS_MAX: Final = 5


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool: what the model is shown of it, and the function that a call runs."""

    name: str
    description: str
    function: Callable[..., Any]
    arguments: type[BaseModel]
    """Its parameters, those that nel fills in left out."""
    injected: tuple[str, ...] = ()
    """Parameters that get the episode's sample, without its gold answer."""
    on_interrupt: OnInterrupt | None = None
    """What a resume does about a call that a kill interrupted; None is `tell` for a function, and
    what the object's `Toolset.resume` says for a method.
    """
    parallel: bool = False
    """Whether several calls of one answer may run at the same time."""
    owner: object = field(default=None, compare=False, repr=False)
    """The object whose method it is; None for a function."""

    def __get__(self, instance: object, owner: type | None = None) -> Tool:
        """Return the tool bound to an object, as a method is."""
        if instance is None:
            return self
        return replace(self, function=MethodType(self.function, instance), owner=instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, so that a decorated one is still usable by itself."""
        return self.function(*args, **kwargs)

    @cached_property
    def parameters(self) -> JsonObject:
        """Return the JSON Schema of its arguments."""
        schema = _without_titles(self.arguments.model_json_schema())
        return {"type": "object", "properties": {}, **schema}

    def as_json(self) -> JsonObject:
        """Return the tool in the OpenAI shape, as requests offer it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}

    def problems(self, arguments: object) -> list[str]:
        """Return what is wrong with the arguments of a call, each with its path; empty for none.

        What the schema cannot say, such as a validator of a model, is tried after it.
        """
        validator = jsonschema.Draft202012Validator(self.parameters)
        errors = sorted(validator.iter_errors(arguments), key=lambda error: list(error.path))
        problems = [(tuple(error.path), error.message) for error in errors]
        # Only then by pydantic: it would take "3" for 3, which the schema refuses.
        if not problems:
            try:
                self.arguments.model_validate(arguments)
            except ValidationError as error:
                problems = [(detail["loc"], detail["msg"]) for detail in error.errors()]
        return [
            f"{'.'.join(map(str, path)) or 'arguments'}: {message}"
            for path, message in problems[:_PROBLEMS_MAX]
        ]

    def run(self, arguments: Mapping[str, object], sample: Sample) -> Any:
        """Call the function with arguments that have no `problems`; return what it returns."""
        model = self.arguments.model_validate(arguments)
        # Only what the model gave: the function has its defaults itself.
        values = {name: getattr(model, name) for name in model.model_fields_set}
        return self.function(**values, **dict.fromkeys(self.injected, sample))


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *, name: str | None = None, on_interrupt: OnInterrupt | None = None, parallel: bool = False
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    on_interrupt: OnInterrupt | None = None,
    parallel: bool = False,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a function, or a method of a `Toolset`, as a tool.

    The first paragraph of its docstring describes it to the model, ``Args:`` its parameters.
    Annotations may be str, int, float, bool, Literal, Optional, list, dict, dataclasses, TypedDict
    and pydantic models. A parameter annotated with `nel.types.Sample` gets the episode's sample,
    without its gold answer, and is not shown to the model.

    Args:
        function: What a call runs; sync or async.
        name: What the model calls it; the function's own name.
        on_interrupt: What a resume does about a call that a kill interrupted, and of which it is not
            known whether it took effect: run it ``again``, which has to do no harm; ``tell`` the
            model so, the default of a function; or ``restart`` the episode.
        parallel: Several calls of one answer may run at the same time.

    Raises:
        ConfigError: A parameter has no annotation, or one that has no JSON Schema.
    """

    def declare(function: Callable[..., Any]) -> Tool:
        tool = _tool(function, name or function.__name__)
        return replace(tool, on_interrupt=on_interrupt, parallel=parallel)

    return declare if function is None else declare(function)


def _tool(function: Callable[..., Any], name: str) -> Tool:
    if not _NAME.fullmatch(name) or len(name) > NAME_CHARACTERS_MAX:
        raise ConfigError(
            f'"{name}" cannot name a tool; use letters, digits, - and _, at most'
            f" {NAME_CHARACTERS_MAX}"
        )
    description, documented = _documentation(inspect.getdoc(function) or "")
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(
            f'the tool "{name}" has an annotation that cannot be evaluated: {error}; import or'
            " define it at the top of its module"
        ) from error
    injected, fields = [], {}
    for parameter in _parameters(function, name):
        annotation = hints.get(parameter.name)
        if annotation is None:
            raise ConfigError(
                f'the tool "{name}" needs an annotation of its parameter {parameter.name}, of which'
                " its schema is made"
            )
        if annotation in _INJECTED:
            injected.append(parameter.name)
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (
            annotation,
            Field(default, description=documented.get(parameter.name)),
        )
    return Tool(
        name=name,
        description=description,
        function=function,
        arguments=_model(name, fields),
        injected=tuple(injected),
    )


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name == "self":
        del parameters[0]
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ConfigError(
                f'the tool "{name}" takes *{parameter.name}, which has no schema; name its'
                " parameters"
            )
    return parameters


def _model(name: str, fields: Mapping[str, Any]) -> type[BaseModel]:
    try:
        model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        model.model_json_schema()
    except (PydanticUserError, TypeError, NameError) as error:
        raise ConfigError(
            f'the tool "{name}" has a parameter without a JSON Schema: {error}'
        ) from error
    return model


def _documentation(text: str) -> tuple[str, dict[str, str]]:
    """Return the first paragraph of a docstring, and the texts of its ``Args:`` by parameter."""
    paragraphs = re.split(r"\n\s*\n", text.strip())
    # "Args:" and all lines after it that are indented or empty.
    section = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    parameters: dict[str, str] = {}
    current = None
    for line in section[1].splitlines() if section else ():
        # "    path (str): Where it is."; a line that is indented further goes on with the last.
        entry = re.match(r"\s{4}(\w+)(?: \(.*?\))?:\s*(.*)", line)
        if entry:
            current = entry[1]
            parameters[current] = entry[2].strip()
        elif current and line.strip():
            parameters[current] = f"{parameters[current]} {line.strip()}"
    return " ".join(paragraphs[0].split()), parameters


def _without_titles(schema: Any) -> Any:
    """Return a schema without the titles that pydantic makes of names."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_without_titles(value) for value in schema]
    return schema
