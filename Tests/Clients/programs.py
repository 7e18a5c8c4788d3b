"""Starts the provider simulator and the daemon in a directory of their own, and runs a command against them.

    python3 programs.py PROGRAMS DIRECTORY COMMAND...

PROGRAMS is the directory of `reconciled` and `provider-simulator`. The command finds the addresses and the tokens in
its environment: PAYMENTS_URL, OPERATIONS_URL, CALLER_TOKEN and OPERATOR_TOKEN.
"""

import hashlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

CALLER_TOKEN = "caller-of-the-clients"
OPERATOR_TOKEN = "operator-of-the-clients"
PROVIDERS = ("card", "wallet")


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def configuration(directory: pathlib.Path, public: int, admin: int, simulator: int) -> str:
    lines = [
        "store:",
        f'  url: "sqlite:{directory / "payments.sqlite"}"',
        f"http: {{host: 127.0.0.1, port: {public}}}",
        "admin:",
        "  host: 127.0.0.1",
        f"  port: {admin}",
        "  operators:",
        f"    - {{name: hana, token_sha256: {digest(OPERATOR_TOKEN)}, role: operator}}",
        "callers:",
        f"  - {{name: shop, token_sha256: {digest(CALLER_TOKEN)}}}",
        "providers:",
    ]
    for provider in PROVIDERS:
        lines += [
            f"  - name: {provider}",
            f"    url: http://127.0.0.1:{simulator}/{provider}",
            "    allow_plain_http: true",
        ]
    return "\n".join([*lines, "telemetry: {log_level: warning}", ""])


def is_up(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except urllib.error.HTTPError as answer:
        # The simulator has no page at its root, and is up once it says so.
        return answer.code == 404
    except OSError:
        return False


def await_answer(url: str, process: "subprocess.Popen[bytes]", log: pathlib.Path) -> None:
    deadline = time.monotonic() + 30
    while not is_up(url):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"error: {log.name} says: {log.read_text()[-2000:]}")
        time.sleep(0.05)


def main() -> int:
    # So that the programs end also where this one is told to.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    programs, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    public, admin, simulator = free_ports(3)
    file = directory / "reconciled.yaml"
    file.write_text(configuration(directory, public, admin, simulator))
    own = {name: value for name, value in os.environ.items() if not name.startswith("RECONCILED_")}
    environment = own | {f"RECONCILED_PROVIDERS_{name.upper()}_TOKEN": "any" for name in PROVIDERS}
    commands: dict[str, tuple[list[str | pathlib.Path], str]] = {
        "simulator": (
            [programs / "provider-simulator", "serve", "--port", str(simulator), "--providers", ",".join(PROVIDERS)],
            f"http://127.0.0.1:{simulator}/",
        ),
        "daemon": ([programs / "reconciled", "serve", "--config", file], f"http://127.0.0.1:{admin}/readyz"),
    }
    with (directory / "migrate.log").open("wb") as output:
        migrate = [str(programs / "reconciled"), "migrate", "--config", str(file)]
        subprocess.run(migrate, env=environment, check=True, stdout=output, stderr=output)
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, (command, url) in commands.items():
            log = directory / f"{name}.log"
            with log.open("wb") as output:
                started.append(subprocess.Popen(command, env=environment, stdout=output, stderr=output))
            await_answer(url, started[-1], log)
        settings = {
            "PAYMENTS_URL": f"http://127.0.0.1:{public}",
            "OPERATIONS_URL": f"http://127.0.0.1:{admin}",
            "CALLER_TOKEN": CALLER_TOKEN,
            "OPERATOR_TOKEN": OPERATOR_TOKEN,
        }
        status = subprocess.run(sys.argv[3:], env=own | settings, timeout=120).returncode
        if status != 0:
            print((directory / "daemon.log").read_text()[-2000:], file=sys.stderr)
        return status
    finally:
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


if __name__ == "__main__":
    sys.exit(main())
