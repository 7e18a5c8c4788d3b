"""Reads both sides over their interfaces, and leaves them as files: books.jsonl, discrepancies.jsonl (those that are
not closed), repairs.jsonl, and ledger-P.json, listing-P.jsonl and requests-P.jsonl for each provider P."""

import argparse
import json
import sys
import urllib.request
from pathlib import Path


def fetch(url: str, token: str) -> dict:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def pages(url: str, token: str, limit: int, query: str = ""):
    cursor = None
    while True:
        page = fetch(f"{url}?limit={limit}{query}" + (f"&cursor={cursor}" if cursor else ""), token)
        yield from page["data"]
        cursor = page.get("next_cursor")
        if not cursor:
            return


def write_lines(path: Path, items) -> int:
    count = 0
    with open(path, "w", encoding="utf-8") as file:
        for item in items:
            file.write(json.dumps(item) + "\n")
            count += 1
    return count


def requests(simulator: str, provider: str):
    after = 0
    while True:
        page = fetch(f"{simulator}/_control/{provider}/journal?after={after}&limit=10000", "drill")["data"]
        if not page:
            return
        yield from page
        after = page[-1]["id"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--admin", required=True, help="the operators' listener of a daemon")
    parser.add_argument("--token", required=True, help="an operator's token")
    parser.add_argument("--simulator", required=True)
    parser.add_argument("--providers", required=True)
    parser.add_argument("--into", required=True, type=Path)
    options = parser.parse_args()

    count = write_lines(options.into / "books.jsonl", pages(f"{options.admin}/v1/payments", options.token, 200))
    discrepancies = pages(f"{options.admin}/v1/discrepancies", options.token, 200)
    differ = write_lines(options.into / "discrepancies.jsonl", discrepancies)
    repairs = pages(f"{options.admin}/v1/repairs", options.token, 200, "&state=all")
    write_lines(options.into / "repairs.jsonl", repairs)
    print(f"    {count} payments in the books, {differ} discrepancies that are not closed")
    for provider in options.providers.split(","):
        ledger = fetch(f"{options.simulator}/_control/{provider}/ledger", "drill")
        (options.into / f"ledger-{provider}.json").write_text(json.dumps(ledger), encoding="utf-8")
        listing = pages(f"{options.simulator}/{provider}/transactions", "drill", 1000)
        write_lines(options.into / f"listing-{provider}.jsonl", listing)
        sent = write_lines(options.into / f"requests-{provider}.jsonl", requests(options.simulator, provider))
        print(f"    {provider}: {len(ledger['transactions'])} transactions, {sent} requests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
