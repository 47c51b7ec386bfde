"""An agent in the base image: it asks over chat and runs the calls of its one tool; tests are its users."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request

TOOL = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}


def ask(body):
    request = urllib.request.Request(
        os.environ["URL"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["KEY"]},
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]


def title(instruction):
    """Ask on the side, without tools, as opencode and Claude Code do."""
    ask({"model": "small", "messages": [{"role": "user", "content": "A title for: " + instruction}]})


def main(instruction):
    """Go on until an answer calls nothing."""
    title(instruction)
    messages = [{"role": "user", "content": instruction}]
    while True:
        message = ask({"model": os.environ["MODEL"], "messages": messages, "tools": [TOOL], "max_tokens": 99})
        messages.append(message)
        if not message.get("tool_calls"):
            return
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": ran.stdout + ran.stderr})


try:
    main(sys.argv[1])
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
sys.stdout.write("it cost 0.25\n")
