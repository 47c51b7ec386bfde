# what: is honestly wrong for negative sums
# mode: stdio
# problem: echo
# verdict: wrong
input()
print(abs(sum(map(int, input().split()))))
