"""The workflows of .github/workflows, and the rules for them. A rule takes all workflows and yields what is wrong."""

import pathlib
import re
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIRECTORY = ROOT / ".github" / "workflows"

#: Everything that a job may write, by workflow and job. A job that is not here only reads.
MAY_WRITE = {
    ("nightly.yml", "report"): {"issues"},
    ("release.yml", "image"): {"packages"},
    ("release.yml", "sign"): {"attestations", "id-token", "packages"},
    ("release.yml", "release"): {"contents"},
}
#: Actions without a commit, each with the reason why it has none.
WITHOUT_COMMIT = {}
#: Who may start a workflow. pull_request_target and workflow_run run with the rights of main on what others wrote.
TRIGGERS = {"push", "pull_request", "schedule", "workflow_dispatch"}
#: The job of release.yml that compares tag and version.
CHECK = "check"

RULES = {}


def rule(function):
    """Adds a rule under its name."""
    RULES[function.__name__.replace("_", "-")] = function
    return function


def texts():
    """The text of each workflow, by its file's name."""
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(DIRECTORY.glob("*.y*ml"))}


class Workflow:
    def __init__(self, name, text):
        self.name, self.text = name, text
        self.content = yaml.safe_load(text)
        # YAML 1.1, which the library speaks, takes the word `on` for a truth value.
        self.triggers = self.content.get("on", self.content.get(True))

    def jobs(self):
        return self.content["jobs"].items()

    def steps(self):
        """(where, step) of each step."""
        for job, content in self.jobs():
            for number, step in enumerate(content["steps"], 1):
                yield f"{self.name}: {job}, step {number}", step

    def scripts(self):
        """(where, text) of each step that runs a shell."""
        for where, step in self.steps():
            if "run" in step:
                yield where, step["run"]


def parsed(sources):
    return [Workflow(name, text) for name, text in sources.items()]


@rule
def triggers(workflows):
    for workflow in workflows:
        named = {workflow.triggers} if isinstance(workflow.triggers, str) else set(workflow.triggers)
        for trigger in named - TRIGGERS:
            yield f"{workflow.name}: {trigger} starts it"


@rule
def timeouts(workflows):
    for workflow in workflows:
        for job, content in workflow.jobs():
            limit = content.get("timeout-minutes")
            if not isinstance(limit, int) or not 1 <= limit <= 360:
                yield f"{workflow.name}: {job} has no time limit"


@rule
def permissions(workflows):
    for workflow in workflows:
        if workflow.content.get("permissions") != {}:
            yield f"{workflow.name}: what its jobs do not name, they must not have (permissions: {{}})"
        for job, content in workflow.jobs():
            allowed = content.get("permissions")
            if not isinstance(allowed, dict):
                yield f"{workflow.name}: {job} does not name its permissions"
                continue
            writes = {name for name, right in allowed.items() if right not in ("read", "none")}
            if writes != MAY_WRITE.get((workflow.name, job), set()):
                yield f"{workflow.name}: {job} may write {sorted(writes)}"


@rule
def identity_builds_nothing(workflows):
    """Who can sign runs no code of the repository, and so none of its dependencies."""
    for workflow in workflows:
        for job, content in workflow.jobs():
            if "id-token" in (content.get("permissions") or {}) and any(
                "actions/checkout" in step.get("uses", "") for step in content["steps"]
            ):
                yield f"{workflow.name}: {job} can ask for an identity and has the sources"


@rule
def concurrency(workflows):
    for workflow in workflows:
        group = workflow.content.get("concurrency", {})
        if not group.get("group") or "cancel-in-progress" not in group:
            yield f"{workflow.name}: it does not say what happens to a second run"
        elif workflow.name == "release.yml" and group["cancel-in-progress"]:
            yield f"{workflow.name}: a release would be cut off half-way"


@rule
def shell(workflows):
    """bash with pipefail also in containers, where the default is another shell."""
    for workflow in workflows:
        if workflow.content.get("defaults", {}).get("run", {}).get("shell") != "bash":
            yield f"{workflow.name}: its shell is not bash"
        for where, step in workflow.steps():
            if "shell" in step:
                yield f"{where}: it has a shell of its own"


@rule
def credentials(workflows):
    for workflow in workflows:
        for where, step in workflow.steps():
            if step.get("uses", "").startswith("actions/checkout@"):
                if step.get("with", {}).get("persist-credentials") is not False:
                    yield f"{where}: the token stays in the work tree"


@rule
def interpolation(workflows):
    """What a workflow puts into a script comes by the environment: text in the script itself would be run."""
    for workflow in workflows:
        for where, text in workflow.scripts():
            if "${{" in text:
                yield f"{where}: an expression in the script"


@rule
def pinned(workflows):
    """A tag can be moved to other code; a commit cannot. The comment is for readers, and Dependabot keeps it."""
    commits = {}
    for workflow in workflows:
        for line in re.findall(r"(?m)^[ -]*uses: *(.*)$", workflow.text):
            found = re.fullmatch(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)", line)
            if found is None:
                if line.split(" ")[0] not in WITHOUT_COMMIT:
                    yield f"{workflow.name}: {line} is not pinned to a commit with its version"
            elif commits.setdefault(found[1], found.group(2, 3)) != found.group(2, 3):
                yield f"{workflow.name}: {found[1]} has another commit elsewhere"


@rule
def images(workflows):
    for workflow in workflows:
        for job, content in workflow.jobs():
            container = content.get("container")
            image = container.get("image") if isinstance(container, dict) else container
            if image and not re.search(r":\d|@sha256:", image):
                yield f"{workflow.name}: {job} runs in {image}, which names no version"


@rule
def commands(workflows):
    """Each script and target that a workflow calls is there and can be run."""
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    for workflow in workflows:
        for where, text in workflow.scripts():
            for name in re.findall(r"(?<![\w./-])((?:scripts|\.ci|deploy|drills)/[\w./-]+)", text):
                file = ROOT / name
                if not file.is_file() or not file.stat().st_mode & 0o111:
                    yield f"{where}: there is no program {name}"
            for target in re.findall(r"\bmake ([a-z][\w-]*)", text):
                if target not in targets:
                    yield f"{where}: there is no target {target}"


@rule
def syntax(workflows):
    for workflow in workflows:
        for where, text in workflow.scripts():
            result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
            if result.returncode != 0:
                yield f"{where}: {result.stderr}"


def shellcheck():
    """The program, where the tests' environment or the machine has it."""
    beside = pathlib.Path(sys.executable).parent / "shellcheck"
    return str(beside) if beside.exists() else shutil.which("shellcheck")


@rule
def shell_findings(workflows):
    program = shellcheck()
    for workflow in workflows if program else []:
        for where, text in workflow.scripts():
            command = [program, "--shell=bash", "--severity=style", "--format=gcc", "-"]
            result = subprocess.run(
                command, input=f"set -eo pipefail\n{text}", capture_output=True, text=True, check=False
            )
            if result.returncode != 0:
                yield f"{where}: {result.stdout}{result.stderr}"


@rule
def release_begins_with_the_check(workflows):
    """Nothing is built or published of a tag that is not the program's version."""
    for workflow in workflows:
        if workflow.name != "release.yml":
            continue
        jobs = dict(workflow.jobs())
        scripts = [step.get("run", "") for step in jobs.get(CHECK, {"steps": []})["steps"]]
        if not any(text.startswith('scripts/release-notes "$GITHUB_REF_NAME"') for text in scripts):
            yield f"{workflow.name}: no job compares the tag with the version"
        for job in set(jobs) - {CHECK}:
            if not waits_for(CHECK, job, jobs):
                yield f"{workflow.name}: {job} does not wait for the check"
        if jobs.get(CHECK, {}).get("if") or any(step.get("continue-on-error") for step in jobs[CHECK]["steps"]):
            yield f"{workflow.name}: the check can be passed over"


def waits_for(wanted, job, jobs):
    needs = jobs[job].get("needs", [])
    needs = [needs] if isinstance(needs, str) else needs
    return "always()" not in str(jobs[job].get("if")) and any(
        need == wanted or waits_for(wanted, need, jobs) for need in needs
    )
