"""The commands of the pages, and a shell that keeps what a person's terminal would keep.

A block that is followed has a mark in the line before it: `<!-- emulation: NAME -->`.
"""

import os
import pathlib
import re
import subprocess
import textwrap
import time

MARK = re.compile(r"^[ ]*<!-- emulation: ([a-z-]+) -->\n([ ]*)```\n(.*?)^\2```$", re.MULTILINE | re.DOTALL)
PAGES = ("docs/deploying-cloud.md", "docs/runbooks/site-lost.md", "docs/runbooks/failback.md",
         "docs/runbooks/switchover.md", "docs/runbooks/restore.md", "docs/runbooks/cloud-break-glass.md")
# Programs that need what no emulation has. Each writes down what it was told, and answers nothing.
STAND_INS = ("kubectl", "docker", "curl", "dig", "make")


def blocks(project: pathlib.Path) -> dict[str, str]:
    """Each marked block by its name. A mark that marks nothing, or a name that is there twice, ends the test."""
    found = {}
    for page in PAGES:
        text = (project / page).read_text()
        marked = MARK.findall(text)
        if len(marked) != text.count("<!-- emulation:"):
            raise SystemExit(f"{page}: a mark without a block: {len(marked)} of {text.count('<!-- emulation:')}")
        for name, _, block in marked:
            if name in found:
                raise SystemExit(f"{page}: the name {name} is there twice")
            found[name] = textwrap.dedent(block)
    return found


class Terminal:
    """A shell in the directory of the project. Variables and functions stay from block to block."""

    def __init__(self, project: pathlib.Path, work: pathlib.Path, environment: dict[str, str]):
        self.project = project
        self.work = work
        self.blocks = blocks(project)
        self.followed = []
        self.kept = work / "kept.sh"
        self.kept.write_text("")
        self.told = work / "told.log"
        self.told.write_text("")
        stand_ins = work / "stand-ins"
        stand_ins.mkdir()
        for name in STAND_INS:
            program = stand_ins / name
            program.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >>"{self.told}"\n'
                               'case "$*" in *"-fsSo "*) : >"$(printf "%s" "$*" | cut -d" " -f2)" ;; esac\n'
                               'if [ ! -t 0 ]; then case "$*" in *"-f -"*|*stdin*|*login*) cat >/dev/null ;; esac; fi\n')
            program.chmod(0o755)
        self.environment = environment | {"PATH": f"{stand_ins}:{environment['PATH']}", "USER": "tester"}

    def follow(self, name: str, fails: bool = False, **variables: str) -> str:
        """Runs a block as it stands in its page, with other values for what the page says is yours."""
        self.followed.append(name)
        block = self.blocks[name]
        for key, value in variables.items():
            block, changed = re.subn(rf"\b{key}=\S+", f"{key}={value}", block)
            if not changed:
                raise SystemExit(f"{name}: the block does not set {key}")
        return self.run(block, name, fails)

    def run(self, commands: str, name: str, fails: bool = False, quiet: bool = False) -> str:
        # A person says yes to each plan; this does it for the test, and nothing else is different.
        commands = re.sub(r"(terraform/run \S+ (?:apply|destroy))", r"\1 -auto-approve", commands)
        script = (f"set -eo pipefail\nshopt -s expand_aliases\nsource {self.kept}\n{commands}\n"
                  f"{{ declare -px | grep -vE ' (PATH|PWD|OLDPWD|SHLVL|_)='; declare -p SETTINGS ZONE VPC 2>/dev/null || true; "
                  f"declare -f; }} >{self.kept}.new\nmv {self.kept}.new {self.kept}\n")
        start = time.monotonic()
        done = subprocess.run(["bash", "-c", script], cwd=self.project, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=1800)
        number = len(list(self.work.glob("*.block.log")))
        file = re.sub("[^a-z]+", "-", name.lower())
        log = self.work / f"{number:02}-{file}.block.log"
        log.write_text(commands + "\n----\n" + done.stdout + done.stderr)
        if (done.returncode != 0) != fails:
            if not quiet:
                print((done.stdout[-2000:] + done.stderr[-5000:]), flush=True)
            wanted = "it should fail" if fails else "it should not fail"
            raise SystemExit(f"{name}: {wanted}; see {log}")
        if not quiet:
            print(f"    {name}{' (refused)' if fails else ''}: {time.monotonic() - start:.0f} s", flush=True)
        return done.stdout + done.stderr

    def left_out(self) -> set[str]:
        """Blocks that nobody followed: a page that is not tested must not look tested."""
        return set(self.blocks) - set(self.followed)


def environment(endpoint: str, work: pathlib.Path) -> dict[str, str]:
    """Nothing of whoever runs this reaches the commands, and no module knows of the emulation."""
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "TF_CLI_CONFIG_FILE", "TF_CLI_ARGS_init", "GOGC", "LANG")
            if key in os.environ}
    plans = work / "plans"
    plans.mkdir()
    return kept | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "2",
        "AWS_PAGER": "",
        "KUBECONFIG": str(work / "kubeconfig"),
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "TF_IN_AUTOMATION": "1",
        "TF_INPUT": "0",
        "CHECKPOINT_DISABLE": "1",
        "TF_CLI_ARGS_plan": "-no-color",
        "TF_CLI_ARGS_apply": "-no-color",
        "RECONCILED_PLANS": str(plans),
    }
