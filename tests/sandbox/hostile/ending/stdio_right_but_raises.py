# what: prints the right sum and dies of an exception
# mode: outside
# problem: echo
# verdict: runtime_error
n = int(input())
print(sum(map(int, input().split())), flush=True)
raise RuntimeError("after the answer")
