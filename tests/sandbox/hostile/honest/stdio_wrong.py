# what: is honestly wrong for negative sums
# mode: outside
# problem: echo
# verdict: wrong
input()
print(abs(sum(map(int, input().split()))))
