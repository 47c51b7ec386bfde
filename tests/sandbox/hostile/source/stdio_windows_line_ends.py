# what: a script with the line ends of Windows
# mode: outside
# problem: echo
# verdict: passed
# build: yes
SOURCE = "n = int(input())\r\nprint(sum(map(int, input().split())))\r\n"
