"""How a provider goes wrong: rules that meet certain requests, and what then happens."""

import asyncio
from dataclasses import dataclass
from typing import Callable

from .contract import Answer, problem

HANG_UP = object()
FOR_EVER = 10 ** 9


@dataclass
class Rule:
    """The first rule that matches a request decides what happens to it."""

    verbs: frozenset
    act: Callable  # (call, execute) -> Answer or HANG_UP, awaited
    times: int = 1
    where: Callable = lambda call: True
    met: int = 0

    def matches(self, call):
        return self.met < self.times and call.verb in self.verbs and self.where(call)


class Script:
    """The rules of one provider, tried in the order in which they were added."""

    def __init__(self):
        self.rules = []
        self.change_page = None  # (list of shown transactions) -> list, for each page of a listing

    def on(self, verbs, act, times=1, where=lambda call: True):
        rule = Rule(frozenset(verbs.split()), act, times, where)
        self.rules.append(rule)
        return rule

    def clear(self):
        self.rules = []

    def take(self, call):
        """The rule for this request; `None` if it is treated as the contract says."""
        for rule in self.rules:
            if rule.matches(call):
                rule.met += 1
                return rule
        return None


def lose_answer():
    """The request is executed; the connection ends without an answer."""
    async def act(call, execute):
        execute()
        return HANG_UP
    return act


def lose_request():
    """The connection ends, and nothing is executed."""
    async def act(call, execute):
        return HANG_UP
    return act


def say(answer):
    """An answer without execution."""
    async def act(call, execute):
        return answer
    return act


def refuse(name, status=None, **headers):
    """A problem document without execution."""
    return say(problem(name, status, **headers))


def execute_but_say(name, status=None):
    """The request is executed, and a problem document that names no key is the answer."""
    async def act(call, execute):
        execute()
        return problem(name, status)
    return act


def alter(change):
    """The request is executed; `change` rewrites the transaction in the answer, nowhere else."""
    async def act(call, execute):
        answer = execute()
        if not answer.is_problem:
            change(answer.body)
        return answer
    return act


def wrong_amount(by=1):
    """The answer shows another amount than was asked for."""
    def change(body):
        if body.get("amount"):
            body["amount"]["value"] += by
    return alter(change)


def wrong_refund(by=1):
    """The answer shows every refund with another amount."""
    def change(body):
        for refund in body.get("refunds", []):
            refund["amount"]["value"] += by
    return alter(change)


def arrive_late(seconds):
    """The request stays in the network so long, and is executed then. Nobody hears of it."""
    async def act(call, execute):
        await asyncio.sleep(seconds)
        execute()
        return HANG_UP
    return act


def first(change_ledger, then=None):
    """Something happens at the provider just before the request is executed."""
    async def act(call, execute):
        change_ledger(call)
        return await then(call, execute) if then else execute()
    return act


def afterwards(change_ledger):
    """Something happens at the provider just after the request was executed, before it is answered."""
    async def act(call, execute):
        answer = execute()
        change_ledger(call)
        return answer
    return act


def twice():
    """The network delivers the request two times; the answer is the first one's."""
    async def act(call, execute):
        answer = execute()
        execute()
        return answer
    return act


def slowly(seconds):
    """The request is executed, and the answer takes so long."""
    async def act(call, execute):
        answer = execute()
        await asyncio.sleep(seconds)
        return answer
    return act


def decide_later(provider, seconds):
    """The request is recorded as pending, and decided after so long."""
    async def act(call, execute):
        with provider.lock:
            answer = execute()
            line = provider.ledger.known_key(call.key)
            if answer.status != 201 or line is None:
                return answer
            decided, line.status = line.status, "pending"
        asyncio.get_running_loop().call_later(seconds, decide, provider, line, decided)
        return Answer(202, line.shown(), {})
    return act


def decide(provider, line, status):
    with provider.lock:
        line.status, line.updated = status, provider.contract.now()
