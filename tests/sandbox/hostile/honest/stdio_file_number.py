# what: reads standard input as file number 0
# mode: outside
# problem: echo
# verdict: passed
_, *words = open(0).read().split()
print(sum(map(int, words)))
