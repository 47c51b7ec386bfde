# what: computes by generators and coroutines within
# problem: listy
# verdict: passed
import asyncio


def running_evens():
    result = []
    while True:
        number = yield result
        if number % 2 == 0:
            result.append(number)


async def gathered(xs):
    async def each():
        for number in xs:
            await asyncio.sleep(0)
            yield number

    return [number async for number in each() if number % 2 == 0]


def evens(xs):
    stream = running_evens()
    result = next(stream)
    for number in xs:
        result = stream.send(number)
    assert result == asyncio.run(gathered(xs)) == list(filter(lambda number: not number % 2, xs))
    return result
