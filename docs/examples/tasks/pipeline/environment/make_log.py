"""Prints an access log that is the same each time."""

PATHS = {"/pay": 31, "/cart": 23, "/search": 17, "/login": 11, "/": 5}
OK = {"/": 400, "/search": 300, "/login": 90, "/cart": 60, "/pay": 20}

lines = [(path, 500, number) for path, n in PATHS.items() for number in range(n)]
lines += [(path, 200, number) for path, n in OK.items() for number in range(n)]
for path, status, number in sorted(
    lines, key=lambda line: (line[2] * 7919 % 104729, line[0], line[1])
):
    print(f"10.0.{number % 16}.{number % 251} {path} {status}")
