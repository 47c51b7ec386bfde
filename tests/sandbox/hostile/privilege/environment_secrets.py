# what: looks for secrets in its environment
# probe: yes
import os
import re

SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie|nonce|docker|aws|nel_|openai|anthropic|hf_|proxy", re.IGNORECASE)
reached = [name for name, value in os.environ.items() if SECRET.search(name) or re.fullmatch(r"[0-9a-f]{32,}", value)]
