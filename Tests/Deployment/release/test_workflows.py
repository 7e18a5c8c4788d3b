"""The workflows against their rules; each rule is shown to find something. And the forms of issues."""

import unittest

import workflows
import yaml
from workflows import ROOT

COMMIT = "3d3c42e5aac5ba805825da76410c181273ba90b1"
CHECKOUT = f"actions/checkout@{COMMIT} # v7.0.1"
#: (rule, workflow, text, what takes its place): each is noticed by its rule.
MUTATIONS = [
    ("triggers", "ci.yml", "  pull_request:\n", "  pull_request_target:\n"),
    ("triggers", "nightly.yml", "on:\n  schedule:\n", "on:\n  issue_comment:\n  schedule:\n"),
    ("timeouts", "ci.yml", "    timeout-minutes: 90\n", ""),
    ("timeouts", "nightly.yml", "timeout-minutes: 240", "timeout-minutes: 2400"),
    ("permissions", "ci.yml", "permissions: {}\n", "permissions: write-all\n"),
    ("permissions", "release.yml", "permissions: {}\n", ""),
    ("permissions", "ci.yml", "    permissions:\n      contents: read\n", ""),
    ("permissions", "ci.yml", "      contents: read\n", "      contents: write\n"),
    ("permissions", "nightly.yml", "      contents: read\n", "      contents: read\n      issues: write\n"),
    ("permissions", "release.yml", "      contents: write\n", "      contents: write\n      id-token: write\n"),
    ("identity-builds-nothing", "release.yml", "      contents: read\n", "      id-token: write\n"),
    ("concurrency", "nightly.yml", "concurrency:\n  group: nightly\n  cancel-in-progress: false\n", ""),
    ("concurrency", "release.yml", "cancel-in-progress: false", "cancel-in-progress: true"),
    ("shell", "ci.yml", "    shell: bash\n", "    shell: sh\n"),
    ("shell", "ci.yml", "      - run: scripts/test-thread-sanitizer\n",
     "      - run: scripts/test-thread-sanitizer\n        shell: sh\n"),
    ("credentials", "release.yml", "persist-credentials: false", "persist-credentials: true"),
    ("credentials", "ci.yml", "        with:\n          persist-credentials: false\n", ""),
    ("interpolation", "ci.yml", 'scripts/test-postgresql "$VERSION"', "scripts/test-postgresql ${{ matrix.version }}"),
    ("interpolation", "release.yml", '"$GITHUB_REF_NAME" | tee', '"${{ github.ref_name }}" | tee'),
    ("interpolation", "nightly.yml", "scripts/new-seeds finding.md", "scripts/new-seeds ${{inputs.from}}"),
    ("pinned", "ci.yml", CHECKOUT, "actions/checkout@v7.0.1"),
    ("pinned", "ci.yml", CHECKOUT, f"actions/checkout@{COMMIT}"),
    ("pinned", "ci.yml", CHECKOUT, f"actions/checkout@{COMMIT[:12]} # v7.0.1"),
    ("pinned", "release.yml", CHECKOUT, CHECKOUT.replace("3d3c", "3d3d")),
    ("images", "ci.yml", "container: swift:6.3-bookworm", "container: swift:latest"),
    ("images", "ci.yml", "image: swift:6.3-bookworm", "image: swift"),
    ("commands", "ci.yml", "scripts/test-thread-sanitizer", "scripts/test-thread-sanitiser"),
    ("commands", "ci.yml", "run: .ci/run", "run: .ci/runs"),
    ("commands", "ci.yml", "run: .ci/run", "run: make tests"),
    ("commands", "release.yml", "scripts/release-notes", "scripts/lib.sh"),
    ("syntax", "release.yml", "          (cd dist &&", "          cd dist &&"),
    ("shell-findings", "ci.yml", '"$VERSION"', "$VERSION"),
    ("release-begins-with-the-check", "release.yml", "    needs: check\n", ""),
    ("release-begins-with-the-check", "release.yml", "scripts/release-notes", "true scripts/release-notes"),
    ("release-begins-with-the-check", "release.yml", "    needs: [check, package, sign]\n",
     "    needs: [check, package, sign]\n    if: always()\n"),
    ("release-begins-with-the-check", "release.yml", "  check:\n", "  check:\n    if: github.ref_protected\n"),
]  # fmt: skip


def findings(rule, sources):
    return list(workflows.RULES[rule](workflows.parsed(sources)))


class Rules(unittest.TestCase):
    def test_every_workflow_keeps_every_rule(self):
        sources = workflows.texts()
        self.assertEqual(set(sources), {"ci.yml", "nightly.yml", "release.yml"})
        for name in workflows.RULES:
            with self.subTest(name):
                self.assertEqual(findings(name, sources), [])

    def test_every_planted_fault_is_noticed_by_its_rule(self):
        for rule, name, old, new in MUTATIONS:
            with self.subTest(rule, workflow=name, planted=new or f"without {old}"):
                if rule == "shell-findings" and workflows.shellcheck() is None:
                    self.skipTest("there is no shellcheck")
                sources = workflows.texts()
                self.assertIn(old, sources[name])
                sources[name] = sources[name].replace(old, new, 1)
                self.assertTrue(findings(rule, sources), "nothing noticed it")

    def test_every_rule_has_a_planted_fault(self):
        self.assertEqual(set(workflows.RULES), {mutation[0] for mutation in MUTATIONS})

    def test_shellcheck_looked_at_the_scripts(self):
        if workflows.shellcheck() is None:
            self.skipTest("there is no shellcheck: the scripts of the workflows were only parsed")

    def test_what_is_said_of_jobs_and_actions_is_of_some_that_are_there(self):
        there = {(workflow.name, job) for workflow in workflows.parsed(workflows.texts()) for job, _ in workflow.jobs()}
        self.assertLessEqual(set(workflows.MAY_WRITE), there)
        for action, reason in workflows.WITHOUT_COMMIT.items():
            self.assertTrue(reason)
            self.assertIn(f"uses: {action}", "".join(workflows.texts().values()))


class Versions(unittest.TestCase):
    def test_the_oldest_postgresql_that_the_page_promises_is_tested(self):
        page = (ROOT / "docs" / "operate" / "postgresql.md").read_text(encoding="utf-8")
        ci = workflows.Workflow("ci.yml", workflows.texts()["ci.yml"])
        versions = dict(ci.jobs())["postgresql"]["strategy"]["matrix"]["version"]
        self.assertIn(f"version {min(versions)} or later", page)
        self.assertEqual(versions, list(range(min(versions), max(versions) + 1)))


class Forms(unittest.TestCase):
    KINDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}

    def problems(self, form):
        """What GitHub would refuse, or a reader miss."""
        found = [key for key in ("name", "description", "body") if not form.get(key)]
        names = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        found += sorted({name for name in names if names.count(name) > 1})
        for part in form["body"]:
            attributes = part["attributes"]
            if part["type"] not in self.KINDS or not attributes.get("value" if part["type"] == "markdown" else "label"):
                found.append(str(part))
            options = attributes.get("options", [])
            if part["type"] == "dropdown" and not (options and all(isinstance(each, str) for each in options)):
                found.append(f"{part['id']}: {options}")
        if not any(part.get("validations", {}).get("required") for part in form["body"]):
            found.append("nothing is required")
        return found

    def forms(self):
        directory = ROOT / ".github" / "ISSUE_TEMPLATE"
        return {file.name: yaml.safe_load(file.read_text(encoding="utf-8")) for file in directory.glob("*.yml")}

    def test_forms_are_whole(self):
        forms = self.forms()
        self.assertEqual(set(forms), {"bug.yml", "config.yml", "provider.yml", "seed.yml"})
        for name, form in forms.items():
            if name != "config.yml":
                with self.subTest(name):
                    self.assertEqual(self.problems(form), [])

    def test_planted_faults_are_found(self):
        def same_name(form):
            form["body"][-1]["id"] = form["body"][1]["id"]

        def truth_value(form):
            next(part for part in form["body"] if part["type"] == "dropdown")["attributes"]["options"] = [True]

        for plant in (same_name, truth_value, lambda form: form.pop("name")):
            form = self.forms()["bug.yml"]
            plant(form)
            self.assertTrue(self.problems(form))


class Updates(unittest.TestCase):
    def test_every_kind_of_dependency_is_looked_at(self):
        content = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
        kinds = {entry["package-ecosystem"] for entry in content["updates"]}
        self.assertEqual(kinds, {"swift", "github-actions", "terraform", "docker"})


if __name__ == "__main__":
    unittest.main()
