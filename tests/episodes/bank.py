"""A benchmark of a bank account, and an endpoint that plays models against it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.support.endpoint import Call, Reply, answer

SOURCE = '''
import os, sys, time
from nel import benchmark, scorer
from dataclasses import dataclass
from pydantic import BaseModel
from nel.tools import ANY_NAME, Tool, ToolError, Toolset, tool

@tool(on_interrupt="again", parallel=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    return a + b

@tool
def send_mail(text: str) -> str:
    """Send a mail, which cannot be unsent."""
    with open(os.environ["MAILS"], "a") as mails:
        mails.write(text + "\\n")
    return "sent"

@tool
def long_list(n: int) -> str:
    """Return much text."""
    return "x" * n

@tool
def crash(how: str) -> str:
    """Fail in the tool's own code."""
    if how == "raise":
        raise KeyError("no such row")
    if how == "exit":
        sys.exit(0)
    if how == "die":
        os._exit(3)
    time.sleep(60)

@tool
def leak(how: str) -> str:
    """Give the key of the endpoint away."""
    if how == "raise":
        raise KeyError(os.environ["SECRET_KEY"])
    return os.environ["SECRET_KEY"]

@tool(name="print")
async def print_much(n: int) -> str:
    """Print beside the result, which is long."""
    print("noise")
    os.write(2, b"noise")
    return "y" * n

@tool
def odd(what: str):
    """Return something that is not text."""
    return {"object": object(), "set": {1}, "nan": float("nan"), "none": None}[what]

@tool(parallel=True)
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n

class Bank(Toolset):
    def __init__(self, sample):
        super().__init__(sample)
        self.balance = 10

    @tool
    def deposit(self, amount: int) -> dict:
        """Put money in."""
        if amount < 0:
            raise ToolError("an amount is never negative")
        self.balance += amount
        return {"balance": self.balance}

    def evidence(self):
        return {"balance": self.balance, "seen": repr(self.sample)}

@dataclass(frozen=True, kw_only=True)
class AnyCall(Tool):
    def run(self, arguments, sample):
        return self.function(self.name)

class NoArguments(BaseModel):
    pass

class Shell(Toolset):
    def __init__(self, sample):
        super().__init__(sample)
        self.names = []

    @tool
    def ls(self) -> str:
        """List files."""
        return "a b"

    def any_call(self, name):
        self.names.append(name)
        return f"{name}: not found"

    def tools(self):
        other = AnyCall(name=ANY_NAME, description="", function=self.any_call, arguments=NoArguments, owner=self)
        return [*super().tools(), other]

    def evidence(self):
        return self.names

rows = [{"id": f"q{i}", "question": f"Add {i}.", "target": 10 + i, "secret": "canary"} for i in range(N)]
common = dict(dataset=lambda: rows, prompt="{question}", hidden_fields=["secret"], env=["MAILS", "SECRET_KEY", "FAULT"])

@benchmark(name="bank", tools=[add, send_mail, long_list], environment=Bank, **common)
@scorer
def bank(sample):
    return {"correct": sample.evidence["balance"] == sample.target, "messages": len(sample.conversation)}

class LastingBank(Bank):
    resume = "restart"

class FaultyBank(Bank):
    def __init__(self, sample):
        super().__init__(sample)
        if os.environ.get("FAULT") == "init":
            raise RuntimeError("no account")

    def evidence(self):
        if os.environ.get("FAULT") == "object":
            return object()
        raise RuntimeError("no books")

class LeakingBank(Bank):
    def evidence(self):
        return {"key": os.environ["SECRET_KEY"]}

async def stubborn(sample, episode):
    while True:
        try:
            reply = await episode.ask()
            if not reply.calls:
                return reply.text
            await episode.call_all(reply.calls)
        except Exception:
            continue

async def swallowing(sample, episode):
    for _ in range(9):
        try:
            await episode.call_all((await episode.ask()).calls)
        except BaseException:
            pass
    return "done"

async def spinning(sample, episode):
    while True:
        try:
            await episode.call_all((await episode.ask()).calls)
        except:
            pass

async def exiting(sample, episode):
    await episode.ask()
    sys.exit(0)

async def silent(sample, episode):
    return "done"

async def raising(sample, episode):
    await episode.ask()
    raise ValueError("a mistake")

async def telling(sample, episode):
    reply = await episode.ask()
    await episode.call_all(reply.calls)
    episode.note("key", os.environ["SECRET_KEY"])
    await episode.user("I have the key " + os.environ["SECRET_KEY"])
    await episode.ask()
    return os.environ["SECRET_KEY"]

def declare(name, **more):
    @benchmark(name=name, tools=[add, send_mail, crash, print_much, odd, double, leak], **{"environment": Bank, **common, **more})
    @scorer
    def scored(sample):
        return sample.evidence["balance"] == sample.target if "balance" in sample.evidence else True
    return scored

stubborn_ = declare("stubborn", solver=stubborn)
swallowing_ = declare("swallowing", solver=swallowing)
spinning_ = declare("spinning", solver=spinning)
exiting_ = declare("exiting", solver=exiting)
silent_ = declare("silent", solver=silent)
raising_ = declare("raising", solver=raising)
lasting_ = declare("lasting", environment=LastingBank)
faulty_ = declare("faulty", environment=FaultyBank)
leaking_ = declare("leaking", environment=LeakingBank, solver=telling)

RATIONS = [{"steps": 1}, None, {"stepz": 2}]
rationed_ = declare(
    "rationed", dataset=lambda: [{**row, "ration": RATIONS[i]} for i, row in enumerate(rows)], limits_field="ration"
)

@benchmark(name="plain", **common)
@scorer
def plain(sample):
    return sample.response == "done"

@benchmark(name="functions", tools=[add, crash, print_much, odd, double], limits={"tool_seconds": 0.3}, **common)
@scorer
def functions(sample):
    return sample.response == "done"

@benchmark(name="shell", environment=Shell, **common)
@scorer
def shell(sample):
    return sample.evidence == ["rm", "mv"]

@benchmark(name="strict", tools=[add], limits={"steps": 2}, on_limit="fail", **common)
@scorer
def strict(sample):
    return True
'''


def write_bank(directory: Path, n: int = 3) -> Path:
    """Write the benchmarks with so many questions and return the file."""
    path = directory / "bank.py"
    path.write_text(SOURCE.replace("range(N)", f"range({n})"), encoding="utf-8")
    return path


def calling(*calls: tuple[str, Any], text: str = "") -> Reply:
    """Return an answer that calls tools, each with its arguments as JSON or as the model wrote them."""
    written = [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": name, "arguments": value if isinstance(value, str) else json.dumps(value)},
        }
        for number, (name, value) in enumerate(calls)
    ]
    return answer(text, finish="tool_calls", tool_calls=written)


def n_results(call: Call) -> int:
    """Return how many results of tools a request holds."""
    return sum(message["role"] == "tool" for message in call.body["messages"])


def results(call: Call) -> list[str]:
    """Return the results of tools in a request."""
    return [message["content"] for message in call.body["messages"] if message["role"] == "tool"]


def depositing(call: Call, _: int) -> Reply:
    """Play a model that deposits what it is asked for in four calls, and says so."""
    amount = int(re.search(r"Add (\d+)", call.text)[1])  # type: ignore[index]
    match n_results(call):
        case 0:
            return calling(("add", {"a": amount}))
        case 1:
            return calling(("send_mail", {"text": f"{amount} is coming"}))
        case 2:
            return calling(("deposit", {"amount": amount}), ("add", {"a": 1}))
        case _:
            return answer("done")
