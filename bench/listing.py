#!/usr/bin/env python3
"""Reads a window of a provider's listing from end to end and prints transactions a second.

    bench/listing.py HOST:PORT PROVIDER FROM TO LIMIT

One connection and one page after the other, as a cursor demands; of a page only what leads to the next is read.
"""
import http.client
import re
import sys
import time
import urllib.parse

address, provider, begin, end, limit = sys.argv[1:6]
connection = http.client.HTTPConnection(address)
window = {"limit": limit, "updated_after": begin, "updated_before": end}
count, started = 0, time.monotonic()
while True:
    path = f"/{provider}/transactions?" + urllib.parse.urlencode(window)
    connection.request("GET", path, headers={"Authorization": "Bearer bench"})
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        sys.exit(f"the listing answers {response.status}: {body[:200]!r}")
    count += body.count(b'"authorized_until"') or body.count(b'"captures"')
    following = re.search(rb'"next_cursor"\s*:\s*(?:"([^"]*)"|null)', body[-700:]) or re.search(
        rb'"next_cursor"\s*:\s*(?:"([^"]*)"|null)', body)
    if following is None:
        sys.exit("a page without next_cursor")
    if following.group(1) is None:
        break
    window = {"limit": limit, "cursor": following.group(1).decode()}
seconds = time.monotonic() - started
print(f"{count / seconds:.0f} {count}")
