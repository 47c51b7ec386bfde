"""A call that BFCL counts as right, written as a model would write it: for ``nel endpoint oracle``."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from nel.types import JsonObject
from nel_bfcl.functions import plain_name

_SUFFIXES: Final = {"long": "L", "float": "f"}


def possible_call(
    item: Mapping[str, Any], functions: Sequence[JsonObject], language: str = "python"
) -> tuple[str, dict[str, Any]]:
    """Return a call that is right: the first possible value of each argument that has one.

    Args:
        item: The function with the possible values of its arguments; an empty text among them says
            that it may be left out.
        functions: Their descriptions.
        language: ``python``, ``java`` or ``javascript``; values of the latter two are texts.
    """
    ((name, parameters),) = item.items()
    schemas: dict[Any, Any] = {each["name"]: each["parameters"] for each in functions}
    shapes, required = schemas[name]["properties"], schemas[name].get("required", ())
    arguments = {
        key: _first_value(values)
        for key, values in parameters.items()
        if key in required or ("" not in values or (key in shapes and values != [""]))
    }
    if language != "python":
        arguments = {
            key: _as_source(value, shapes[key], language) for key, value in arguments.items()
        }
    return plain_name(name), arguments


def _first_value(values: Any) -> Any:
    """Return the first possible value; an object in it has possible values for each of its keys."""
    value = next((value for value in values if value != ""), values[0] if values else values)
    if not isinstance(value, dict):
        return [_of_list(item) for item in value] if isinstance(value, list) else value
    return {
        key: _first_value(items) if isinstance(items, list) and items else items
        for key, items in value.items()
        if items != [""]
    }


def _of_list(value: Any) -> Any:
    return _first_value([value]) if isinstance(value, dict) else value


def _as_source(value: Any, shape: Mapping[str, Any], language: str) -> Any:
    """Return a value as a text that BFCL reads back as it, where there is one."""
    from bfcl_eval.eval_checker.ast_eval.type_convertor.java_type_converter import (  # noqa: PLC0415
        java_type_converter,
    )
    from bfcl_eval.eval_checker.ast_eval.type_convertor.js_type_converter import (  # noqa: PLC0415
        js_type_converter,
    )

    kind, nested = shape["type"], (shape.get("items") or {}).get("type")
    read: Callable[..., Any] = java_type_converter if language == "java" else js_type_converter
    if isinstance(value, str):
        return value
    texts = list(_texts(value, kind, nested, language))
    return next((text for text in texts if read(text, kind, nested) == value), texts[0])


def _texts(value: Any, kind: str, nested: str | None, language: str) -> Iterator[str]:
    """Yield how a language writes a value, texts within it without quotes and with them."""
    for quote in (str, json.dumps):
        write = partial(_literal, quote=quote, suffix=_SUFFIXES.get(nested or kind, ""))
        if language == "java" and isinstance(value, list):
            items = ", ".join(map(write, value))
            if kind == "Array":
                yield f"new Object[]{{{items}}}"
            elif value:
                yield f"new ArrayList<>(Arrays.asList({items}))"
            else:
                yield "new ArrayList<>()"
        elif language == "java" and isinstance(value, dict):
            puts = " ".join(f'put("{key}", {write(item)});' for key, item in value.items())
            yield f"new HashMap<String, Object>() {{{{ {puts} }}}}"
        else:
            write_plain = partial(_literal, quote=quote, suffix="")
            yield write(value) if language == "java" else write_plain(value)


def _literal(value: Any, *, quote: Callable[[Any], str], suffix: str) -> str:
    write = partial(_literal, quote=quote, suffix=suffix)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{json.dumps(key)}: {write(item)}' for key, item in value.items())}}}"
        )
    return quote(value) if isinstance(value, str) else f"{value}{suffix}"


def call_of(source: str, parameters: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """Return a call in Python source as name and arguments.

    Args:
        source: The call of a function with literal arguments.
        parameters: The names of each function's parameters, in their order.

    >>> call_of("sort('a.txt')", {"sort": ["file_name"]})
    {'name': 'sort', 'arguments': {'file_name': 'a.txt'}}
    """
    call: Any = ast.parse(source, mode="eval").body
    positional = zip(parameters[call.func.id], call.args, strict=False)
    values = {**dict(positional), **{item.arg: item.value for item in call.keywords}}
    arguments = {name: ast.literal_eval(value) for name, value in values.items()}
    return {"name": call.func.id, "arguments": arguments}
