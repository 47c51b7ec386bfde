# what: the plain answer
# problem: listy
# verdict: passed
def evens(xs: list) -> list:
    return [number for number in xs if number % 2 == 0]
