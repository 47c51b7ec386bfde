# what: returns whole floats where they are exact
# problem: listy
# verdict: passed
def evens(xs):
    return [float(number) if abs(number) < 2**50 else number for number in xs if number % 2 == 0]
