"""The form of the modules in terraform/: files, descriptions, validations, and what their READMEs say.

    form.py            fails with each finding
    form.py --write    writes the tables of inputs and outputs into the READMEs
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
FILES = ("main.tf", "variables.tf", "outputs.tf", "versions.tf", "README.md")
BEGIN, END = "<!-- inputs and outputs: begin -->", "<!-- inputs and outputs: end -->"
# What has nothing to validate: free text, ids that AWS checks, and what is passed on to a module that validates.
FREE = {"tags", "description", "initial_values", "initial_secrets", "master_password", "database_password",
        "client_security_group_ids", "target_group_arns", "alarm_topic_arns", "web_acl_arn"}


def blocks(text: str, kind: str) -> dict[str, str]:
    """Name and body of each top-level block of a kind, as `terraform fmt` lays them out."""
    return dict(re.findall(rf'^{kind} "([^"]+)" {{\n(.*?)^}}', text, re.MULTILINE | re.DOTALL))


def value(body: str, name: str) -> str | None:
    found = re.search(rf"^  {name} += (.*)$", body, re.MULTILINE)
    return found.group(1) if found else None


def tables(variables: dict[str, str], outputs: dict[str, str]) -> str:
    lines = ["| input | type | default | |", "|---|---|---|---|"]
    for name, body in variables.items():
        kind = value(body, "type").split("(")[0] if value(body, "type").endswith("({") else value(body, "type")
        default = value(body, "default")
        shown = "needed" if default is None else f"`{default}`" if not default.endswith("{") else "see variables.tf"
        lines.append(f"| `{name}` | `{kind}` | {shown} | {value(body, 'description')[1:-1]} |")
    lines += ["", "| output | |", "|---|---|"]
    lines += [f"| `{name}` | {value(body, 'description')[1:-1]} |" for name, body in outputs.items()]
    return "\n".join(lines)


def needs_validation(name: str, body: str) -> bool:
    return not (name in FREE or name.endswith("_id") or name == "vpc_cidr" or value(body, "type") == "bool")


def module_findings(directory: pathlib.Path, write: bool) -> list[str]:
    findings = [f"{directory / file} is missing" for file in FILES if not (directory / file).exists()]
    if findings:
        return findings
    variables = blocks((directory / "variables.tf").read_text(), "variable")
    outputs = blocks((directory / "outputs.tf").read_text(), "output")
    for name, body in variables.items():
        for part in ("description", "type"):
            if value(body, part) is None:
                findings.append(f"{directory}/variables.tf: {name} has no {part}")
        if "modules" in directory.parts and needs_validation(name, body) and "  validation {" not in body:
            passed_on = directory.name == "site" and name in {"cidr", "client_cidrs", "cluster", "database", "tags"}
            if not passed_on:
                findings.append(f"{directory}/variables.tf: {name} has no validation")
    findings += [f"{directory}/outputs.tf: {n} has no description" for n, b in outputs.items()
                 if value(b, "description") is None]
    if "environments" in directory.parts:
        findings += lock_findings(directory)
    if "modules" in directory.parts and not findings:
        findings += readme_findings(directory, tables(variables, outputs), write)
        if not list(directory.glob("examples/*/main.tf")):
            findings.append(f"{directory}/examples has no example")
    return findings


def lock_findings(directory: pathlib.Path) -> list[str]:
    """An environment pins its provider for every platform: by the checksums of the registry's archives (zh), and by that of
    what a mirror has unpacked (h1)."""
    lock = directory / ".terraform.lock.hcl"
    if not lock.exists():
        return [f"{lock} is missing; run `terraform providers lock` for each platform"]
    text = lock.read_text()
    wanted = re.search(r'^ +version += "([^"]+)"', (directory / "versions.tf").read_text(), re.MULTILINE).group(1)
    if f'version     = "{wanted}"' not in text or "zh:" not in text or "h1:" not in text:
        return [f"{lock} does not pin version {wanted} by checksums of archives (zh) and of what is unpacked (h1)"]
    return []


def readme_findings(directory: pathlib.Path, wanted: str, write: bool) -> list[str]:
    readme = directory / "README.md"
    text = readme.read_text()
    if BEGIN not in text or END not in text:
        return [f"{readme} has no place for inputs and outputs: {BEGIN} … {END}"]
    before, rest = text.split(BEGIN)
    new = before + BEGIN + "\n" + wanted + "\n" + END + rest.split(END)[1]
    if write:
        readme.write_text(new)
    elif new != text:
        return [f"{readme} does not name the inputs and outputs as they are; "
                "run: python3 terraform/tests/form.py --write"]
    return []


def main() -> int:
    write = "--write" in sys.argv[1:]
    directories = sorted(d for kind in ("modules", "environments") for d in (ROOT / kind).iterdir() if d.is_dir())
    findings = [f for d in directories for f in module_findings(d, write)]
    if len(directories) < 10:
        findings.append(f"only {len(directories)} directories were found below {ROOT}")
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
