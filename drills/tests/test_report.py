"""The judge of drills is shown evidence in which nothing is wrong, and then the same with one thing wrong: it must find
exactly that. Run by: python3 -B -m unittest discover -s drills/tests"""

import json
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))

import diagnosis  # noqa: E402  pylint: disable=wrong-import-position
import evidence as evidence_module  # noqa: E402  pylint: disable=wrong-import-position
import judge  # noqa: E402  pylint: disable=wrong-import-position
import markdown  # noqa: E402  pylint: disable=wrong-import-position
import measures  # noqa: E402  pylint: disable=wrong-import-position
import timeline  # noqa: E402  pylint: disable=wrong-import-position

START = 1_800_000_000_000
COUNT = 60


def money(value: int) -> dict:
    return {"value": value, "currency": "JPY"}


def payment(number: int) -> dict:
    return {
        "id": f"pay_{number}", "state": "succeeded", "amount": money(100), "captured": money(100),
        "refunded": money(0), "created_at": "2027-01-15T08:00:00.000Z",
        "legs": [{"index": 0, "provider": "card", "amount": money(100), "captured": money(100), "refunded": money(0)}],
    }


def transaction(number: int) -> dict:
    return {
        "key": f"K{number}", "status": "captured", "net": 100, "held": 0, "refunds": [],
        "charges": [{"amount": money(100)}],
    }


class Story:
    """60 payments, five a second; site a is lost after six seconds, and site b is promoted four seconds later."""

    def __init__(self):
        self.drill = {
            "name": "story", "target": "local", "mode": "abrupt", "times": 1, "hypothesis": "it goes well",
            "objectives": {"rlo": "full", "rto": "10s", "approval_to_settled": "5s", "backlog": "20s", "rpo": "0s"},
            "requester": "one", "approver": "two", "load": {"rate": 5, "callers": 4, "short": False},
            "allowed_loss": False, "host": "a machine", "parts": [],
        }
        self.books = [payment(number) for number in range(COUNT)]
        self.ledger = [transaction(number) for number in range(COUNT)]
        self.listing = [
            {"key": f"K{number}", "metadata": {"payment": f"pay_{number}", "leg": "0"}} for number in range(COUNT)]
        self.journal = []
        self.requests = []
        for number in range(COUNT):
            # Those of the first six seconds, then those after the outage of six seconds.
            at = START + number * 200 + (6000 if number >= 30 else 0)
            server = "a1" if number < 30 else "b1"
            name = {"key": f"key-{number}"}
            told = {"id": f"pay_{number}", "server": server}
            self.journal += [
                {"at": at, "event": "sent", **name, "kind": "plain", "amount": 100},
                {"at": at + 20, "event": "acknowledged", **name, **told, "state": "succeeded", "status": 201},
                {"at": at + 21, "event": "told", **name, **told, "state": "succeeded", "captured": 100, "refunded": 0},
            ]
            operations = ["authorize", "capture"] if number < 30 else ["inquire", "authorize", "capture"]
            self.requests += [
                {"at": at + step, "operation": operation, "key": f"K{number}", "entry_key": "", "origin": "client",
                 "executed": True, "result": 201}
                for step, operation in enumerate(operations)]
        self.journal.append({"at": START + 30_000, "event": "ended", "key": "", "callers": 4, "broken": 0})
        self.marks = [
            {"at": START + 5990 + at, "round": 1, "mark": mark, "text": text}
            for mark, text, at in [
                ("fault", "site a is lost", 0), ("detected", "", 1500),
                ("approved", "", 2000), ("fenced", "", 3000), ("recovery_window", "", 3500),
                ("promoted", "site b", 4000)]]
        self.verify = 0
        self.discrepancies = []
        self.repairs = []

    def evidence(self, directory: Path):
        def write(name, items):
            (directory / name).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")

        net = sum(item["net"] for item in self.ledger)
        (directory / "drill.json").write_text(json.dumps(self.drill), encoding="utf-8")
        write("books.jsonl", self.books)
        write("discrepancies.jsonl", self.discrepancies)
        write("repairs.jsonl", self.repairs)
        write("journal.jsonl", self.journal)
        write("timeline.jsonl", self.marks)
        write("listing-card.jsonl", self.listing)
        write("requests-card.jsonl", self.requests)
        (directory / "ledger-card.json").write_text(json.dumps(
            {"charged_twice": [], "totals": [{"currency": "JPY", "net": net}], "transactions": self.ledger}))
        (directory / "verify.status").write_text(str(self.verify))
        return evidence_module.read(directory)

    def broken(self) -> set[str]:
        with tempfile.TemporaryDirectory() as place:
            return {verdict.name for verdict in judge.judge(self.evidence(Path(place))) if not verdict.holds}

    def measured(self):
        with tempfile.TemporaryDirectory() as place:
            found = self.evidence(Path(place))
            rounds = measures.rounds(found)
            lost = measures.loss(found)
            speed = measures.rates(found, rounds)
            level = measures.level(found, rounds, speed)
            objectives = measures.judge_objectives(found, rounds, lost, level)
            self.assert_drawn(found, rounds)
            return rounds, lost, level, {each["name"]: each["met"] for each in objectives}

    @staticmethod
    def assert_drawn(found, rounds) -> None:
        if "<svg" not in timeline.draw(found, rounds):
            raise AssertionError("there is no picture")


class JudgeTests(unittest.TestCase):
    def setUp(self):
        self.story = Story()

    def test_nothing_is_wrong(self):
        self.assertEqual(self.story.broken(), set())

    def test_a_second_charge_under_one_key(self):
        self.story.ledger[3]["charges"].append({"amount": money(100)})
        self.story.ledger[3]["net"] = 200
        self.assertIn("charged-twice", self.story.broken())

    def test_a_second_transaction_for_one_leg(self):
        self.story.ledger.append({**transaction(99), "net": 0})
        self.story.listing.append({"key": "K99", "metadata": {"payment": "pay_3", "leg": "0"}})
        self.assertIn("charged-twice", self.story.broken())

    def test_an_acknowledged_payment_is_gone(self):
        del self.story.books[5]
        self.assertEqual(self.story.broken(), {"acknowledged-kept", "books-agree", "sums-agree"})

    def test_a_payment_was_gone_for_a_while(self):
        self.story.journal.append(
            {"at": START + 20_000, "event": "vanished", "key": "key-5", "id": "pay_5", "server": "b1"})
        self.assertEqual(self.story.broken(), {"acknowledged-kept"})

    def test_a_row_that_is_younger_than_its_acknowledgement(self):
        self.story.books[5]["created_at"] = "2027-01-15T08:00:20.000Z"
        self.assertEqual(self.story.broken(), {"acknowledged-kept"})

    def test_an_orphan_that_was_undone_where_a_loss_was_accepted(self):
        self.story.drill["allowed_loss"] = True
        self.story.books[5].update(created_at="2027-01-15T08:00:20.000Z", state="failed", refunded=money(100))
        self.story.books[5]["legs"][0].update(refunded=money(100))
        self.story.ledger[5]["net"] = 0
        self.assertEqual(self.story.broken(), set())

    def test_a_refund_whose_row_was_lost_and_that_was_found(self):
        self.story.drill["allowed_loss"] = True
        self.story.ledger[5]["net"] = 0
        self.story.journal[5 * 3 + 2]["refunded"] = 100
        self.assertEqual(self.story.broken(), {"books-agree", "sums-agree"})
        self.story.discrepancies.append({"payment": "pay_5", "class": "late_reversal", "state": "open"})
        self.assertEqual(self.story.broken(), set())
        self.assertEqual(self.story.measured()[1]["lost"], 1)
        self.story.drill["allowed_loss"] = False
        self.assertEqual(self.story.broken(), {"told-stands", "books-agree", "sums-agree"})

    def test_a_state_that_changed_long_before_an_accepted_loss_misses_the_rpo(self):
        self.story.drill["allowed_loss"] = True
        self.story.journal[2]["state"] = "canceled"
        self.assertEqual(self.story.broken(), set())
        _, lost, _, met = self.story.measured()
        self.assertEqual((lost["lost"], lost["rpo_ms"], met["rpo"]), (1, 5969, False))

    def test_a_state_that_changed_after_an_accepted_loss(self):
        self.story.drill["allowed_loss"] = True
        self.story.journal[40 * 3 + 2]["state"] = "canceled"
        self.assertEqual(self.story.broken(), {"told-stands"})

    def test_a_loss_that_was_accepted_is_for_the_books(self):
        self.story.drill["allowed_loss"] = True
        del self.story.books[5]
        self.assertEqual(self.story.broken(), {"books-agree", "sums-agree"})

    def test_a_lost_payment_that_was_undone(self):
        self.story.drill["allowed_loss"] = True
        del self.story.books[5]
        self.story.ledger[5]["net"] = 0
        self.assertEqual(self.story.broken(), set())

    def test_a_final_state_changed(self):
        self.story.books[7] = {**payment(7), "state": "failed", "refunded": money(100)}
        self.story.books[7]["legs"][0]["refunded"] = money(100)
        self.story.ledger[7]["net"] = 0
        self.assertEqual(self.story.broken(), {"told-stands"})

    def test_the_provider_took_another_amount(self):
        self.story.ledger[8]["charges"][0]["amount"] = money(90)
        self.story.ledger[8]["net"] = 90
        self.assertEqual(self.story.broken(), {"books-agree", "sums-agree"})

    def test_a_failed_payment_keeps_money(self):
        self.story.books[9]["state"] = "failed"
        self.assertEqual(self.story.broken(), {"told-stands", "states-mean-money"})

    def test_a_hold_is_left(self):
        self.story.ledger[9]["held"] = 10
        self.assertEqual(self.story.broken(), {"books-agree"})

    def test_a_payment_is_in_doubt_at_rest(self):
        self.story.books[9]["state"] = "processing"
        self.assertEqual(self.story.broken(), {"told-stands", "nothing-in-doubt", })

    def test_a_quarantine_that_nothing_made_necessary(self):
        self.story.books[9]["state"] = "quarantined"
        self.assertIn("nothing-in-doubt", self.story.broken())

    def change_an_amount(self):
        """The provider held another amount than it was asked for; two people had it undone, after the caller was told
        that people decide."""
        booked = self.story.books[9]
        booked["state"] = "failed"
        booked["captured"] = booked["legs"][0]["captured"] = money(0)
        self.story.ledger[9].update(status="voided", net=0, charges=[])
        self.story.journal[9 * 3 + 2].update(state="quarantined", captured=0)
        next(item for item in self.story.requests if item["key"] == "K9")["fault"] = "amount_changed"
        self.story.repairs.append({
            "id": "rep_1", "payment_id": "pay_9", "state": "approved", "proposed_by": "on-call",
            "decision": {"approved": True, "by": "second"}})

    def test_two_people_take_a_changed_amount_out(self):
        self.change_an_amount()
        self.assertEqual(self.story.broken(), set())

    def test_a_changed_amount_is_left_with_people(self):
        self.change_an_amount()
        self.story.books[9]["state"] = "quarantined"
        self.story.repairs.clear()
        self.assertEqual(self.story.broken(), {"nothing-in-doubt", "two-people"})

    def test_a_changed_amount_that_nobody_decided_about(self):
        self.change_an_amount()
        self.story.repairs[0].update(state="rejected")
        self.assertEqual(self.story.broken(), {"told-stands", "two-people"})

    def test_one_person_alone_approves(self):
        self.change_an_amount()
        self.story.repairs[0]["decision"]["by"] = "on-call"
        self.assertEqual(self.story.broken(), {"told-stands", "two-people"})

    def test_people_decide_about_what_nobody_contradicted(self):
        self.change_an_amount()
        self.story.repairs.append({**self.story.repairs[0], "id": "rep_2", "payment_id": "pay_10"})
        self.assertEqual(self.story.broken(), {"two-people"})

    def test_what_was_said_to_be_undone_is_still_held(self):
        self.change_an_amount()
        self.story.ledger[9]["held"] = 107
        self.assertEqual(self.story.broken(), {"books-agree"})

    def test_a_caller_without_an_answer(self):
        self.story.journal.append({"at": START + 29_000, "event": "gave_up", "key": "key-x", "why": "patience"})
        self.assertEqual(self.story.broken(), {"nothing-in-doubt"})

    def test_callers_that_broke(self):
        self.story.journal.pop()
        self.assertEqual(self.story.broken(), {"nothing-in-doubt"})

    def test_a_broken_trail(self):
        self.story.verify = 1
        self.assertEqual(self.story.broken(), {"audit-chain"})

    def test_the_old_site_answers_after_the_promotion(self):
        self.story.journal[40 * 3 + 1]["server"] = "a2"
        self.assertEqual(self.story.broken(), {"one-site"})

    def test_nobody_is_answered_after_the_promotion(self):
        promoted = next(mark["at"] for mark in self.story.marks if mark["mark"] == "promoted")
        for line in self.story.journal:
            if line["at"] > promoted:
                line["server"] = None
        self.assertEqual(self.story.broken(), {"one-site"})

    def test_a_capture_that_the_payment_permits_is_refused(self):
        refused = {
            "at": START + 12_000, "event": "refused_operation", "key": "key-7", "id": "pay_7", "operation": "capture",
            "problem": "/problems/state-conflict", "server": "b1"}
        self.story.journal.insert(-1, refused)
        self.assertEqual(self.story.broken(), {"nothing-refused-wrongly"})

    def test_a_cancel_that_is_refused_because_the_payment_failed(self):
        self.story.journal.insert(-1, {
            "at": START + 12_000, "event": "refused_operation", "key": "key-7", "id": "pay_unknown",
            "operation": "cancel", "problem": "/problems/too-late", "server": "b1"})
        self.assertEqual(self.story.broken(), set())

    def test_something_is_sent_before_it_is_asked_about(self):
        self.story.requests = [
            item for item in self.story.requests if (item["key"], item["operation"]) != ("K40", "inquire")]
        self.assertEqual(self.story.broken(), {"asked-before-sent"})


class MeasureTests(unittest.TestCase):
    def setUp(self):
        self.story = Story()

    def test_what_was_measured(self):
        rounds, lost, level, met = self.story.measured()
        # The last before was told at +5.821 s, the first after at +12.021 s; the fault was at +5.990 s.
        self.assertEqual(rounds[0].rto, 6031)
        self.assertEqual(rounds[0].approval_to_settled, 4031)
        self.assertEqual((lost["lost"], lost["rpo_ms"], level), (0, 0, "full"))
        self.assertEqual(set(met.values()), {True})

    def test_a_loss_is_measured_from_the_fault(self):
        del self.story.books[25]
        _, lost, _, met = self.story.measured()
        self.assertEqual((lost["lost"], lost["rpo_ms"]), (1, 970))
        self.assertFalse(met["rpo"])

    def test_two_losses_are_measured_each_from_its_fault(self):
        self.story.drill["allowed_loss"] = True
        self.story.marks += [
            {"at": START + at, "round": 2, "mark": mark, "text": text}
            for mark, text, at in [("fault", "site b is lost", 17_000), ("promoted", "site a", 17_900)]]
        # One is lost with each site: half a second before the first fault, and two seconds before the second.
        self.story.journal[27 * 3 + 2]["state"] = "canceled"
        self.story.journal[45 * 3 + 2]["state"] = "canceled"
        self.assertEqual(self.story.broken() - {"one-site"}, set())
        _, lost, _, _ = self.story.measured()
        self.assertEqual((lost["lost"], lost["rpo_ms"]), (2, 17_000 - 45 * 200 - 6000 - 21))

    def test_payments_that_do_not_come_back(self):
        self.story.journal = [
            line for line in self.story.journal if line["event"] != "told" or line["at"] < START + 6000]
        rounds, _, level, met = self.story.measured()
        self.assertIsNone(rounds[0].rto)
        self.assertEqual(level, "none")
        self.assertEqual(met, {"rlo": False, "rto": False, "approval_to_settled": False, "backlog": True, "rpo": True})

    def test_a_slower_system_is_a_reduced_level(self):
        kept = [line for line in self.story.journal if line["at"] < START + 6000]
        late = [line for line in self.story.journal if line["at"] >= START + 6000]
        self.story.journal = kept + [
            line for line in late if line["event"] != "told" or int(line["key"].split("-")[1]) % 2 == 0]
        self.assertFalse(self.story.measured()[3]["rlo"])

    def test_objectives_are_judged_by_the_worst_and_from_thirty_on_by_the_p99(self):
        self.assertEqual(measures.percentile(list(range(1, 101)), 0.99), 99)
        self.assertEqual(measures.percentile([5], 0.99), 5)
        self.assertEqual(measures.percentile(list(range(1, 31)), 0.99), 30)

    def test_what_was_not_read_does_not_hold(self):
        with tempfile.TemporaryDirectory() as place:
            self.story.evidence(Path(place))
            (Path(place) / "books.jsonl").unlink()
            verdicts = judge.judge(evidence_module.read(Path(place)))
        self.assertTrue(verdicts and not any(verdict.holds for verdict in verdicts))

    def test_seconds_in_words(self):
        self.assertEqual((markdown.seconds(None), markdown.seconds(1540)), ("not measured", "1.5 s"))


class DiagnosisTests(unittest.TestCase):
    """What a drill that failed shows where nobody can look at its directory."""

    def setUp(self):
        self.story = Story()

    def diagnosed(self, log: str) -> str:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "logs").mkdir()
            (Path(place) / "logs/daemon-b1.log").write_text(log, encoding="utf-8")
            found = self.story.evidence(Path(place))
            return diagnosis.diagnose(found, measures.rounds(found))

    def test_each_second_after_the_fault(self):
        self.assertIn("after the fault: 6x0 5 5 5 5 5 4", self.diagnosed(""))

    def test_what_a_daemon_said_since_the_fault_without_what_it_says_always(self):
        at = datetime.fromtimestamp((START + 7000) / 1000, timezone.utc)
        said = [
            f"{at - timedelta(minutes=1):%Y-%m-%dT%H:%M:%S}+0000 warning reconciled: before",
            f"{at:%Y-%m-%dT%H:%M:%S}+0000 info reconciled: always",
            f"{at:%Y-%m-%dT%H:%M:%S}+0000 notice reconciled: the site is active " + "x" * 400,
            *[f"{at:%Y-%m-%dT%H:%M:%S}+0000 warning reconciled: again" for _ in range(50)],
        ]
        lines = [line for line in self.diagnosed("\n".join(said)).splitlines() if "daemon-b1" in line]
        self.assertIn("the site is active", lines[0])
        self.assertLess(len(lines[0]), 330)
        self.assertEqual((len(lines), lines[-1]), (41, "    daemon-b1: and 11 lines more"))

    def test_a_machine_that_stood_still(self):
        self.story.journal.append({"at": START + 9000, "event": "stood_still", "key": "", "took_ms": 44_900})
        text = self.diagnosed("")
        self.assertIn("the machine had stood still for 44.9 s", text)
        self.assertEqual(self.story.broken(), set())

    def test_a_standstill_explains_only_times_that_were_missed_by_no_more(self):
        def document(measured, still, **members):
            return {
                "broken_off": None, "stood_still": [{"at": 0, "took_ms": took} for took in still],
                "objectives": [
                    {"name": "rto", "objective": "60s", "measured_ms": measured, "met": measured <= 60_000},
                    {"name": "rpo", "objective": "0s", "measured_ms": 0, "met": True}],
                "invariants": [{"holds": True}], **members}

        self.assertTrue(diagnosis.explained(document(65_500, [2_500, 3_000])))
        self.assertFalse(diagnosis.explained(document(65_500, [5_499])))
        self.assertFalse(diagnosis.explained(document(65_500, [])))
        self.assertFalse(diagnosis.explained(document(20_000, [9_000])), "nothing was missed")
        self.assertFalse(diagnosis.explained(document(65_500, [9_000], broken_off="step 3")))
        self.assertFalse(diagnosis.explained(document(65_500, [9_000], invariants=[{"holds": False}])))
        level = {"name": "rlo", "objective": "full", "measured": "none", "met": False}
        self.assertFalse(diagnosis.explained(document(65_500, [9_000], objectives=[level])))

    def test_the_report_of_a_drill_that_failed(self):
        self.story.drill["objectives"]["rto"] = "1s"
        self.story.journal.append({"at": START + 9000, "event": "stood_still", "key": "", "took_ms": 44_900})
        with tempfile.TemporaryDirectory() as place:
            self.story.evidence(Path(place))
            program = [sys.executable, "-B", str(Path(__file__).resolve().parents[1] / "report"), place]
            ended = subprocess.run(program, capture_output=True, text=True, check=False)
            written = json.loads((Path(place) / "report.json").read_text(encoding="utf-8"))
        self.assertEqual((ended.returncode, ended.stderr), (1, ""))
        self.assertIn("payments settled in each second after the fault: 6x0 5 5", ended.stdout)
        self.assertIn("next time: The machine stood still for 44.9 s", ended.stdout)
        self.assertEqual(written["stood_still"], [{"at": START + 9000, "took_ms": 44_900}])
        self.assertTrue(written["explained_by_standstill"])


if __name__ == "__main__":
    unittest.main()
