"""What generators need of the documents, and would get over in silence: python3 documents.py PAYMENTS OPERATIONS

A name for each operation, each object and each enumeration; nothing that refers to another file; and no `webhooks`, of
which generators make calls. What both documents describe must be the same in both.
"""

import pathlib
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import yaml

# Each API has problems of its own.
DIFFERENT = {"Problem", "ProblemType"}


class Document:
    """An OpenAPI document, as it was read."""

    def __init__(self, path: str) -> None:
        self.name = pathlib.Path(path).name
        self.tree: Any = yaml.safe_load(pathlib.Path(path).read_text())
        self.schemas: dict[str, Any] = self.tree["components"]["schemas"]

    def resolved(self, node: Any) -> Any:
        while "$ref" in node:
            path, node = node["$ref"].split("/")[1:], self.tree
            for step in path:
                node = node[step]
        return node

    def operations(self) -> Iterator[tuple[str, Any]]:
        for path, item in self.tree["paths"].items():
            for method, operation in item.items():
                if method != "parameters":
                    yield f"{method.upper()} {path}", operation

    def examples(self) -> Iterator[tuple[str, Any]]:
        """The name of an answer's schema, and an example of it."""
        for _, operation in self.operations():
            for response in operation["responses"].values():
                for media in self.resolved(response).get("content", {}).values():
                    for example in media.get("examples", {}).values():
                        if "$ref" in media["schema"]:
                            yield media["schema"]["$ref"].rsplit("/", 1)[1], self.resolved(example)["value"]

    def findings(self) -> list[str]:
        found = [f"{name}: no operationId" for name, operation in self.operations() if "operationId" not in operation]
        names = Counter(operation.get("operationId") for _, operation in self.operations())
        found += [f"{name}: an operationId of {count} operations" for name, count in names.items() if count > 1]
        found += ["webhooks: generators make calls of a client from them"] if "webhooks" in self.tree else []
        for name, schema in self.schemas.items():
            for part in schema.get("properties", {}).items():
                found += unnamed(f"{name}.{part[0]}", part[1])
            for part in schema.get("oneOf", []):
                found += unnamed(name, part)
        return [f"{self.name}: {finding}" for finding in found + list(self.inline(self.tree, ""))]

    def inline(self, node: Any, place: str) -> Iterator[str]:
        """References to other files, and schemas outside of `components` that want a name."""
        if isinstance(node, list):
            for part in node:
                yield from self.inline(part, place)
        if not isinstance(node, dict):
            return
        reference = node.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#/components/"):
            yield f"{place}: {reference} is in no place that generators read"
        if isinstance(node.get("schema"), dict):
            yield from unnamed(place, node["schema"])
        for key, value in node.items():
            if key not in ("value", "example"):
                yield from self.inline(value, f"{place}/{key}")


def unnamed(place: str, schema: Any) -> list[str]:
    """An enumeration, or an object with members, that stands where only a reference gives it a name."""
    parts = [schema, schema.get("items", {}), *schema.get("oneOf", [])]
    return [f"{place}: a schema without a name" for part in parts if "enum" in part or "properties" in part]


def findings_of(payments_path: str, operations_path: str) -> list[str]:
    """What is wrong with the documents; empty if nothing is."""
    payments, operations = Document(payments_path), Document(operations_path)
    found = payments.findings() + operations.findings()
    for name in sorted(payments.schemas.keys() & operations.schemas.keys() - DIFFERENT):
        if payments.schemas[name] != operations.schemas[name]:
            found.append(f"{name} is not the same in {payments.name} and in {operations.name}")
    return found


if __name__ == "__main__":
    faults = findings_of(sys.argv[1], sys.argv[2])
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)
