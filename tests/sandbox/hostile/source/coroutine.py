# what: a coroutine function, whose call gives no value
# verdict: wrong|runtime_error
async def double(x):
    return 2 * x
