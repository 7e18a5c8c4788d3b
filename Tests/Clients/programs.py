"""Starts the provider simulator and the daemon in a directory of their own, and runs a command against them.

    python3 programs.py PROGRAMS DIRECTORY COMMAND...

PROGRAMS is the directory of `reconciled` and `provider-simulator`. The command finds the addresses and the tokens in
its environment: PAYMENTS_URL, OPERATIONS_URL, CALLER_TOKEN and OPERATOR_TOKEN.
"""

import pathlib
import signal
import subprocess
import sys

from kit.programs import ProgramFailed, digest, environment_of, free_ports, own_environment, start, stop

CALLER_TOKEN = "caller-of-the-clients"
OPERATOR_TOKEN = "operator-of-the-clients"
PROVIDERS = ("card", "wallet")


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


def main() -> int:
    # So that the programs end also where this one is told to.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    programs, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    public, admin, simulator = free_ports(3)
    file = directory / "reconciled.yaml"
    file.write_text(configuration(directory, public, admin, simulator))
    environment = environment_of(PROVIDERS)
    simulate = ["serve", "--port", str(simulator), "--providers", ",".join(PROVIDERS)]
    commands = {
        f"http://127.0.0.1:{simulator}/_control/health": [str(programs / "provider-simulator"), *simulate],
        f"http://127.0.0.1:{admin}/readyz": [str(programs / "reconciled"), "serve", "--config", str(file)],
    }
    with (directory / "migrate.log").open("wb") as output:
        migrate = [str(programs / "reconciled"), "migrate", "--config", str(file)]
        subprocess.run(migrate, env=environment, check=True, stdout=output, stderr=output)
    started: list[subprocess.Popen[bytes]] = []
    try:
        for url, command in commands.items():
            log = directory / f"{pathlib.Path(command[0]).name}.log"
            started.append(start(command, environment, log, url))
        settings = {
            "PAYMENTS_URL": f"http://127.0.0.1:{public}",
            "OPERATIONS_URL": f"http://127.0.0.1:{admin}",
            "CALLER_TOKEN": CALLER_TOKEN,
            "OPERATOR_TOKEN": OPERATOR_TOKEN,
        }
        status = subprocess.run(sys.argv[3:], env=own_environment() | settings, timeout=120).returncode
        if status != 0:
            print((directory / "reconciled.log").read_text()[-2000:], file=sys.stderr)
        return status
    except ProgramFailed as failure:
        sys.exit(f"error: {failure}")
    finally:
        stop(reversed(started))


if __name__ == "__main__":
    sys.exit(main())
