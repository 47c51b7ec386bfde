# what: prints a wrong sum and overwrites it with the right one by terminal codes
# mode: outside
# problem: echo
# verdict: wrong
n = int(input())
total = sum(map(int, input().split()))
print(f"0\x1b[2K\r{total}\x1b[8m")
