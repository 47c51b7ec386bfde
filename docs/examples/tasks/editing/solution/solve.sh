#!/bin/bash
sed -i -e '/^\[server\]/,/^\[/ s/^port = .*/port = 9090/' -e '/^\[pool\]/,/^\[log\]/ s/^workers = .*/workers = 8/' -e '/^debug/d' /app/server.conf
