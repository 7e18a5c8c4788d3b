"""What must be true, or the test ends."""


def holds(condition: bool, what: str) -> None:
    if not condition:
        raise SystemExit(f"does not hold: {what}")
