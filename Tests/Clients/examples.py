"""Reads each example of an answer by the models of generated clients: python3 examples.py DOCUMENT CLIENT..."""

import importlib
import sys

import documents


def main() -> None:
    document = documents.Document(sys.argv[1])
    for client in sys.argv[2:]:
        models = importlib.import_module(f"{client}.models")
        count = 0
        for name, example in document.examples():
            members = set(getattr(models, name).from_dict(example).to_dict())
            assert members == set(example), f"{client}, {name}: {sorted(members ^ set(example))}"
            count += 1
        assert count > 0, f"{client}: no examples"
        print(f"{client} reads {count} examples of {sys.argv[1]}")


if __name__ == "__main__":
    main()
