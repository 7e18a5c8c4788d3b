"""Starts and stops the programs that something is tried against."""

import hashlib
import os
import pathlib
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable


class ProgramFailed(Exception):
    """A program does not run, so nothing can be tried against it."""


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in sockets]
    for server in sockets:
        server.close()
    return ports


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def own_environment() -> dict[str, str]:
    """Without the variables that the daemon would read as its configuration."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RECONCILED_")}


def environment_of(providers: Iterable[str]) -> dict[str, str]:
    """For a daemon whose providers take any token."""
    return own_environment() | {f"RECONCILED_PROVIDERS_{name.upper()}_TOKEN": "any" for name in providers}


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except OSError:
        return False


def start(
    command: list[str], environment: dict[str, str], log: pathlib.Path, url: str
) -> "subprocess.Popen[bytes]":
    """Starts a program, which writes to `log`, and waits until it answers at `url`."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, start_new_session=True)
    deadline = time.monotonic() + 30
    while not answers(url):
        if process.poll() is not None or time.monotonic() > deadline:
            stop([process])
            name = pathlib.Path(command[0]).name
            raise ProgramFailed(f"{name} does not start. Its log ends: {log.read_text()[-2000:]}")
        time.sleep(0.03)
    return process


def stop(processes: "Iterable[subprocess.Popen[bytes]]") -> None:
    """Asks each to end, and kills what does not."""
    for process in processes:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
