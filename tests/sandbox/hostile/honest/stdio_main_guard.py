# what: a script whose main guard must run, and which exits with status 0
# mode: outside
# problem: echo
# verdict: passed
import sys


def main():
    data = sys.stdin.read().split()
    print(sum(int(word) for word in data[1 : 1 + int(data[0])]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
