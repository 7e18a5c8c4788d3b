"""The pages' marks are found, and plans are judged: each rule is also shown to fail."""

import json
import pathlib
import subprocess
import tempfile
import unittest

import pages
import plans

ROOT = pathlib.Path(__file__).parents[3]
JUDGE = ROOT / "terraform/judge.jq"


def change(kind: str, actions: list[str], **before) -> dict:
    return {"address": f"module.site.{kind}.this", "type": kind, "mode": "managed",
            "change": {"actions": actions, "before": before}}


def judged(*changes: dict) -> list[str]:
    done = subprocess.run(["jq", "-r", "-f", str(JUDGE)], input=json.dumps({"resource_changes": changes}),
                          capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


class Pages(unittest.TestCase):
    def test_every_mark_has_its_block(self):
        found = pages.blocks(ROOT)
        self.assertGreater(len(found), 40)
        self.assertIn("terraform/run", found["promote"])

    def test_a_mark_without_a_block_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            project = pathlib.Path(name)
            for page in pages.PAGES:
                (project / page).parent.mkdir(parents=True, exist_ok=True)
                (project / page).write_text("nothing\n")
            (project / pages.PAGES[0]).write_text("<!-- emulation: lost -->\n\n```\ntrue\n```\n")
            with self.assertRaisesRegex(SystemExit, "a mark without a block"):
                pages.blocks(project)


class Judging(unittest.TestCase):
    def test_what_is_deleted_or_replaced_is_named(self):
        self.assertEqual(judged(change("aws_db_instance", ["delete"]), change("aws_kms_key", ["delete", "create"])),
                         ["deletes module.site.aws_db_instance.this", "replaces module.site.aws_kms_key.this"])

    def test_what_is_changed_in_place_and_alarms_are_not(self):
        self.assertEqual(judged(change("aws_db_instance", ["update"]), change("aws_cloudwatch_metric_alarm", ["delete"])), [])

    def plan(self, directory: str, place: str, *changes: dict) -> plans.Plans:
        (pathlib.Path(directory) / f"1-{place}.json").write_text(json.dumps({"resource_changes": changes}))
        return plans.Plans(pathlib.Path(directory))

    def test_nothing_of_the_serving_site_may_go(self):
        with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(SystemExit, "while ireland serves"):
            self.plan(name, "ireland", change("aws_nat_gateway", ["delete"])).judge("ireland")

    def test_another_place_may_not_take_what_bears_its_name(self):
        with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(SystemExit, "bears the name of ireland"):
            self.plan(name, "frankfurt", change("aws_s3_bucket", ["delete"], bucket="reconciled-ireland-logs")).judge("ireland")

    def test_what_is_the_other_sites_own_may_go(self):
        with tempfile.TemporaryDirectory() as name:
            self.plan(name, "frankfurt", change("aws_db_instance", ["delete"], identifier="reconciled-frankfurt",
                                                replicate_source_db="arn:aws:rds:eu-west-1:1:db:reconciled-ireland")).judge("ireland")

    def test_the_name_of_the_serving_site_stays(self):
        with tempfile.TemporaryDirectory() as name, self.assertRaisesRegex(SystemExit, "joined takes something from ireland"):
            self.plan(name, "joined", change("aws_route53_record", ["delete"], name="ireland.pay.example.com")).judge("ireland")


if __name__ == "__main__":
    unittest.main()
