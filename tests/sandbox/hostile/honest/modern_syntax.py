# what: uses match, walrus, positional-only arguments, exception groups and nested quotes
# problem: double
# verdict: passed
def double(x, /):
    match x:
        case 0:
            return 0
        case int() if (twice := 2 * x) < 0:
            return twice
        case _:
            try:
                raise ExceptionGroup("g", [ValueError(f"{twice}")])
            except* ValueError as group:
                result = int(twice) if group.exceptions else 0
            return result
