# what: returns a dict nested deeper than a parser's recursion limit
# problem: counts
# verdict: wrong|runtime_error
def letters(text):
    value = {}
    for _ in range(3_000):
        value = {"a": value}
    return value
