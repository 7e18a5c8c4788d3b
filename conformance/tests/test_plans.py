"""Plans follow from the seed, and every fault comes at each of the first requests."""

import unittest

from kit.plans import DRAWN, FIRST_REQUESTS, MOMENT, PROVIDERS, STRIKES, SYSTEMATIC, plan, plans
from kit.report import ROWS


class PlansTest(unittest.TestCase):
    def test_the_same_seed_gives_the_same_plans(self) -> None:
        self.assertEqual(plans(7, 200), plans(7, 200))
        self.assertNotEqual(plans(7, 200), plans(8, 200))

    def test_a_plan_does_not_depend_on_the_number_of_orders(self) -> None:
        self.assertEqual(plans(7, 100)[89], plan(7, 90))

    def test_each_fault_comes_at_each_of_the_first_requests(self) -> None:
        first = plans(1, SYSTEMATIC)
        found = {(each.strikes[0].fault, each.strikes[0].request) for each in first if each.strikes}
        expected = {(fault, request) for fault in STRIKES for request in range(1, FIRST_REQUESTS + 1)}
        self.assertEqual(found, expected)
        self.assertTrue(all(len(each.strikes) <= 1 for each in first))

    def test_drawn_plans_have_every_fault_and_every_provider(self) -> None:
        drawn = plans(3, 400)[SYSTEMATIC:]
        self.assertEqual({strike.fault for each in drawn for strike in each.strikes}, set(STRIKES))
        self.assertEqual({each.provider for each in drawn}, set(PROVIDERS))
        self.assertTrue(any(each.declined for each in drawn) and any(each.moments for each in drawn))

    def test_every_plan_has_a_row_and_words(self) -> None:
        for each in plans(5, 200):
            self.assertIn(each.row, ROWS)
            self.assertIn(str(each.amount), each.words())
        self.assertEqual(plan(5, SYSTEMATIC).row, MOMENT)
        self.assertEqual(plan(5, SYSTEMATIC + 1).row, DRAWN)


if __name__ == "__main__":
    unittest.main()
