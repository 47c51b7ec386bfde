# what: a generator function, whose call gives no list
# problem: listy
# verdict: wrong
def evens(xs):
    for number in xs:
        if number % 2 == 0:
            yield number
