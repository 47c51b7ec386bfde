# what: runs for ever while it is loaded
# problem: double
# verdict: timeout
number = 0
while True:
    number += 1
