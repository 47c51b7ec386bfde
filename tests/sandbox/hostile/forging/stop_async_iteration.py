# what: raises StopAsyncIteration where tests may loop
# problem: mapped
# verdict: runtime_error|wrong
def double(x):
    raise StopAsyncIteration
