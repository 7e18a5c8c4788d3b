"""All stories, in the order of the defects that they are about."""

import importlib
from dataclasses import dataclass
from typing import Callable

ALL = {}
FILES = (
    "memory", "resting", "refunds", "strays", "told", "listings", "declines", "patience", "clocks", "stores",
    "operating", "doors", "crowds", "disputes", "people", "mixes")


@dataclass
class Story:
    """What a story is called, which defect it is about, what it tells, and how it is played."""

    name: str
    defect: str
    sentence: str
    play: Callable


def story(name, defect, sentence):
    """Registers a function that plays on a stage."""
    def register(play):
        ALL[name] = Story(name, defect, sentence, play)
        return play
    return register


def load():
    """All stories by name."""
    for name in FILES:
        importlib.import_module(f"{__name__}.{name}")
    return ALL
