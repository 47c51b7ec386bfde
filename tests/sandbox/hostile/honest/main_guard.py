# what: ends with a main guard that exits, which must not run
# problem: double
# verdict: passed
import sys


def double(x):
    return 2 * x


def main():
    print(double(21))
    return 0


if __name__ == "__main__":
    sys.exit(main())
