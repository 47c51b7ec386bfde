#!/bin/bash
# Succeeds once the service answers; starts it the first time.
pgrep -f orders.py > /dev/null || (setsid python3 /opt/orders/orders.py > /dev/null 2>&1 &)
python3 -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:8000/orders", timeout=5)'
