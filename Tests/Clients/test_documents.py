"""What documents.py must find, planted into copies of the project's documents."""

import pathlib
import tempfile
import unittest

from documents import findings_of

OPENAPI = pathlib.Path(__file__).parents[2] / "openapi"


class PlantedFaults(unittest.TestCase):
    def found(self, name: str, old: str, new: str) -> list[str]:
        with tempfile.TemporaryDirectory() as directory:
            paths = [pathlib.Path(directory) / document for document in ("payments.yaml", "operations.yaml")]
            for path in paths:
                text = (OPENAPI / path.name).read_text()
                if path.name == name:
                    self.assertIn(old, text)
                    text = text.replace(old, new, 1)
                path.write_text(text)
            return findings_of(*map(str, paths))

    def test_without_a_fault_nothing_is_found(self) -> None:
        self.assertEqual(self.found("payments.yaml", "openapi", "openapi"), [])

    def test_each_fault_is_found(self) -> None:
        reference = '{$ref: "#/components/schemas/LegPhase"}'
        for name, old, new, words in [
            ("payments.yaml", "      operationId: createPayment\n", "", "no operationId"),
            ("payments.yaml", "operationId: getPayment", "operationId: createPayment", "of 2 operations"),
            ("payments.yaml", "\nx-webhooks:", "\nwebhooks:", "webhooks"),
            ("payments.yaml", f"phase: {reference}", "phase: {type: string, enum: [a, b]}", "Leg.phase: a schema"),
            ("payments.yaml", "enum: [two_phase, one_phase]", "enum: [two_phase]", "LegPhase is not the same"),
            (
                "operations.yaml",
                'schema: {$ref: "#/components/schemas/PromotionObstacles"}',
                "schema: {type: object, properties: {a: {type: string}}}",
                "a schema without a name",
            ),
            ("operations.yaml", reference, '{$ref: "payments.yaml#/components/schemas/LegPhase"}', "no place"),
        ]:
            with self.subTest(old):
                self.assertTrue(any(words in finding for finding in self.found(name, old, new)))


if __name__ == "__main__":
    unittest.main()
