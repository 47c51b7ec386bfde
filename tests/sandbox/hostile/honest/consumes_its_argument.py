# what: empties its argument while it builds the answer
# problem: listy
# verdict: passed
def evens(xs):
    result = []
    while xs:
        number = xs.pop(0)
        if not number % 2:
            result.append(number)
    return result
