"""Serves orders, page by page."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

PAGES = 7
CUSTOMERS = ("ada", "grace", "alan")


class Orders(BaseHTTPRequestHandler):
    """Answers `/orders?page=N`."""

    def do_GET(self):
        """Send one page."""
        page = int(parse_qs(urlsplit(self.path).query).get("page", ["1"])[0])
        orders = [
            {"customer": CUSTOMERS[number % 3], "cents": number * 7919 % 3001}
            for number in range(page * 20 - 19, page * 20 + 1)
        ]
        body = json.dumps({"orders": orders, "next": page + 1 if page < PAGES else None}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Write nothing."""


HTTPServer(("127.0.0.1", 8000), Orders).serve_forever()
