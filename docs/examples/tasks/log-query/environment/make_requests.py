"""Prints requests that are the same each time."""

import json

for number in range(600):
    client = f"10.0.0.{number * 7919 % 13}"
    status = 500 if not number % 11 or (client.endswith(".9") and number % 2) else 200
    milliseconds = (
        (number * 104729) % 997 + 300 * client.endswith(".4") + 700 * client.endswith(".9")
    )
    print(
        json.dumps(
            {
                "client": client,
                "path": f"/{number % 5}",
                "status": status,
                "milliseconds": milliseconds,
            }
        )
    )
