# what: changes its argument and returns nothing
# problem: in_place
# verdict: passed
def drop_odds(xs):
    xs[:] = [number for number in xs if number % 2 == 0]
