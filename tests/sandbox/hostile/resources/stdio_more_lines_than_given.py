# what: reads one line too many
# mode: outside
# problem: echo
# verdict: runtime_error
n = int(input())
numbers = input()
input()
print(sum(map(int, numbers.split())))
