# what: prints the right sum and two megabytes of blank lines
# mode: outside
# problem: echo
# verdict: output_limit
n = int(input())
print(sum(map(int, input().split())))
print("\n" * (2 << 20))
