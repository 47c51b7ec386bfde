# what: returns a generator where any collection will do
# problem: unordered
# verdict: passed
def distinct(xs):
    seen = set()
    for number in xs:
        if number not in seen:
            seen.add(number)
            yield number
