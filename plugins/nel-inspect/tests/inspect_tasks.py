"""Small tasks of Inspect, loaded by path as `capitals.py` would be by a user."""

from __future__ import annotations

import random

from inspect_ai import Epochs, Task, task
from inspect_ai.agent import react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import (
    Score,
    Scorer,
    Target,
    accuracy,
    choice,
    f1,
    includes,
    match,
    mean,
    metric,
    model_graded_qa,
    scorer,
    stderr,
)
from inspect_ai.solver import (
    Generate,
    Solver,
    TaskState,
    chain,
    chain_of_thought,
    generate,
    multiple_choice,
    prompt_template,
    self_critique,
    solver,
    system_message,
    use_tools,
    user_message,
)
from inspect_ai.tool import tool

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SUMS = [
    Sample(
        id=f"sum-{n}",
        input=f"What is {n} plus {n}?",
        target=str(2 * n),
        metadata={"unit": "apples", "said": f"{n + 4}"},
    )
    for n in range(1, 8)
]
SHAPES = [
    Sample(input="How many sides has a square?", choices=["four", "five", "120"], target="A"),
    Sample(input="Was ist das: 🙂 {x}?", choices=["東京", "ein Gesicht"], target="B"),
    Sample(input="Which are round?", choices=["a cube", "a ball", "a ring"], target=["B", "C"]),
]
CHATS = [
    Sample(
        id=n,
        input=[
            ChatMessageSystem(content="Answer with a number."),
            ChatMessageUser(content="What is 1 plus 1?"),
            ChatMessageAssistant(content="2"),
            ChatMessageUser(content=f"What is {n} plus 3?"),
        ],
        target=[str(n + 3), "none"],
    )
    for n in range(1, 5)
]


@scorer(metrics={"short": [mean()], "graded": [accuracy(), stderr()]})
def two_values() -> Scorer:
    """Give a number and a grade."""

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        grade = "C" if target.text in text else "P"
        return Score(
            value={"short": len(text) / 100, "graded": grade}, answer=text[:5], explanation="seen"
        )

    return score


@scorer(metrics=[accuracy()])
def failing() -> Scorer:
    """Raise for one sample, give nothing for another, and a word that is no score for a third."""

    async def score(state: TaskState, target: Target) -> Score | None:
        if state.sample_id == "sum-2":
            raise RuntimeError("the dictionary is gone")
        if state.sample_id == "sum-3":
            return None
        if state.sample_id == "sum-4":
            return Score(value="perhaps")
        if state.sample_id == "sum-5":
            return Score.unscored(explanation="too long")
        return Score(value="yes")

    return score


@scorer(metrics=[accuracy()])
def quiet_judge() -> Scorer:
    """Ask a model, and take its silence for a wrong answer."""

    async def score(state: TaskState, target: Target) -> Score:
        try:
            return Score(value=(await get_model().generate("Is it right?")).completion)
        except Exception:  # noqa: BLE001 - what careless scorers do
            return Score(value="I")

    return score


@metric
def unheard_of() -> object:
    """Return what no mean says."""
    return lambda scores: 1.0


@solver
def shout() -> Solver:
    """Write the model's answer in capitals after it came."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output.completion = state.output.completion.upper()
        return state

    return solve


@solver
def twice() -> Solver:
    """Ask again where the first answer is short."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        state.messages.append(ChatMessageUser(content="Are you sure?"))
        return await generate(state)

    return solve


@solver
def doubting() -> Solver:
    """Ask again where there is an answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        return await generate(state) if state.output.completion else state

    return solve


@solver
def at_random() -> Solver:
    """Draw a number into the prompt."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text += f" {random.random()}"  # noqa: S311 - chance is the point
        return state

    return solve


@solver
def picky() -> Solver:
    """Fail on one sample before anything is asked."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == "sum-3":
            raise ValueError("no apples")
        return state

    return solve


@tool
def add() -> object:
    """Return a tool."""

    async def execute(x: int, y: int) -> int:
        """Add two numbers.

        Args:
            x: One.
            y: Another.
        """
        return x + y

    return execute


@task
def sums(unit: str = "pears", shots: int = 0) -> Task:
    """Ask for sums, as a chain of solvers, with settings of task and solver."""
    shaping = [
        system_message("You count {unit}."),
        prompt_template("{prompt} Count {kind}.", kind=unit),
        *(user_message("Example: 1 plus 1 is 2.") for _ in range(shots)),
        chain_of_thought(),
    ]
    return Task(
        dataset=MemoryDataset(list(SUMS), name="sums"),
        solver=[chain(*shaping), generate(temperature=0.25, stop_seqs=["###"])],
        scorer=match(numeric=True),
        config=GenerateConfig(max_tokens=64, temperature=0.9, top_k=3, max_retries=9),
        epochs=Epochs(3, "mode"),
    )


@task
def pairs() -> Task:
    """Ask for sums that are independent in pairs only."""
    dataset = [
        one.model_copy(update={"metadata": {"pair": number // 2}})
        for number, one in enumerate(SUMS)
    ]
    return Task(
        dataset=dataset,
        scorer=includes(),
        metrics=[accuracy(), stderr(cluster="pair")],
    )


@task
def shapes(cot: bool = False, shuffled: bool = False) -> Task:
    """Ask multiple choice questions, some with several answers."""
    data = MemoryDataset([one.model_copy(deep=True) for one in SHAPES])
    if shuffled:
        data.shuffle_choices(seed=7)
    return Task(
        dataset=data, solver=multiple_choice(cot=cot, multiple_correct=True), scorer=choice()
    )


@task
def chats() -> Task:
    """Go on with a chat; two scorers and a shouting solver after the answer."""
    return Task(
        dataset=list(CHATS), solver=[generate(), shout()], scorer=[includes(), two_values()]
    )


@task
def faulty() -> Task:
    """Be scored by a scorer with faults."""
    return Task(dataset=list(SUMS), scorer=failing())


@task
def pickily() -> Task:
    """Have one sample that cannot be asked."""
    return Task(
        dataset=list(SUMS),
        solver=[picky(), generate()],
        scorer=match(),
        metrics=[f1(), unheard_of()],
    )


@task
def pictures(image: str = PIXEL) -> Task:
    """Show a picture beside a text."""
    asked = ChatMessageUser(content=[ContentText(text="What is it?"), ContentImage(image=image)])
    return Task(dataset=[Sample(input=[asked], target="dot")], scorer=includes())


@task
def doubtful() -> Task:
    """Ask a second time, which only an answer shows."""
    return Task(dataset=list(SUMS), solver=doubting(), scorer=match())


_REFUSED = {
    "agent": lambda: Task(dataset=list(SUMS), solver=react(), scorer=match()),
    "tools": lambda: Task(
        dataset=list(SUMS), solver=[use_tools(add()), generate()], scorer=match()
    ),
    "critic": lambda: Task(
        dataset=list(SUMS), solver=[generate(), self_critique()], scorer=match()
    ),
    "twice": lambda: Task(dataset=list(SUMS), solver=twice(), scorer=match()),
    "silent": lambda: Task(dataset=list(SUMS), solver=system_message("Be brief."), scorer=match()),
    "drawn": lambda: Task(dataset=list(SUMS), solver=[at_random(), generate()], scorer=match()),
    "sandboxed": lambda: Task(dataset=list(SUMS), scorer=match(), sandbox="local"),
    "filed": lambda: Task(dataset=[Sample(input="x", files={"a.txt": "b"})], scorer=match()),
    "judged": lambda: Task(dataset=list(SUMS), scorer=model_graded_qa()),
    "judged_quietly": lambda: Task(dataset=list(SUMS), scorer=quiet_judge()),
    "unscored": lambda: Task(dataset=list(SUMS)),
    "ranked": lambda: Task(
        dataset=list(SUMS), scorer=match(), config=GenerateConfig(num_choices=3)
    ),
    "empty": lambda: Task(dataset=MemoryDataset([]), scorer=match()),
    "broken": lambda: 1 / 0,
}


@task
def refused(kind: str) -> Task:
    """Be of a kind that cannot be run."""
    return _REFUSED[kind]()
