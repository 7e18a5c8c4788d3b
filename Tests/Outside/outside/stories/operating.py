"""A13: two daemons on one file, a listing that nobody can read, and a restore that was told."""

import time

from ..contract import Answer
from ..daemon import Daemon, DaemonFailed
from ..ledger import instant
from ..misbehaviour import FOR_EVER, say
from ..settings import Settings
from . import story

# Members of a run that may say why it does not go on.
REASONS = ("trouble", "reason", "failure", "problem", "error", "detail", "last_failure", "waits_for", "stopped_by")


@story("a13-two-daemons", "A13", "A second daemon on one SQLite file is refused, and says so.")
def two_daemons(stage):
    stage.needs_sqlite()
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    second = Daemon(stage.program, same_books(stage, daemon, provider))
    stage.daemons.append(second)
    try:
        second.start(timeout=6)
        stage.check(False, "the second started beside the first")
    except DaemonFailed as failure:
        names_file = "books.sqlite" in str(failure)
        stage.check(second.process.poll() not in (None, 0) and names_file, f"the second: {str(failure)[:200]}")
    stage.check(shop.pay((provider, 500)).state == "succeeded", "the first goes on")
    stage.check(daemon.command("payments", "list").returncode == 0, "a command reads beside the daemon")
    second.kill()
    daemon.kill()
    daemon.start()
    stage.check(shop.pay((provider, 500)).state == "succeeded", "after kill -9 it starts again at once")


def same_books(stage, daemon, provider):
    directory = stage.directory / "second"
    directory.mkdir()
    settings = Settings(directory)
    settings.provider(provider, base="reference_sale")
    settings.set("store.url", f"sqlite:{daemon.books}")
    return settings


@story("a13-malformed-listing", "A13", "A run over a listing that cannot be read ends, or says why not.")
def malformed_listing(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale"}))
    shop.pay((provider, 1000))
    provider.script.on("list", say(Answer(200, {"data": "everything", "next_cursor": None}, {})), times=FOR_EVER)
    run = stage.compare(daemon, provider, timeout=20)
    reasons = [run[name] for name in REASONS if run.get(name)]
    listings = len(provider.calls("list"))
    stage.check(
        run["state"] == "abandoned" or reasons, f"after {listings} listings: {run['state']}, {reasons or 'no reason'}")
    provider.script.clear()


@story("a13-told-restore", "A13", "After a told restore a resting row that was voided does not read `authorized`.")
def told_restore(stage):
    stage.needs_sqlite()
    provider = stage.provider("card")
    daemon, shop = stage.daemon((provider, {"base": "reference"}))
    payment = shop.pay((provider, 1000), capture="manual").payment
    daemon.kill()
    daemon.save_books("older-")
    daemon.start()
    stage.check(shop.cancel(payment).state == "canceled", "canceled before the restore")
    daemon.kill()
    daemon.restore_books("older-")
    daemon.settings.set("store.recovery", {"kind": "restore", "at": instant(time.time())})
    daemon.start()
    told = shop.until(payment, lambda body: body["state"] not in ("authorized", "processing"), 30)
    stage.check(told.state in ("canceled", "failed"), f"voided there, and here it reads {told.state}")


@story("n-without-listing", "new", "A daemon whose only provider lists nothing starts and serves.")
def without_listing(stage):
    provider = stage.provider("points")
    daemon, shop = stage.daemon((provider, {"base": "reference_sale", "listing": False}), start=False)
    code, words = daemon.check()
    stage.note(f"check-config: {code}, {words.splitlines()[-1][:80]}")
    daemon.start()
    told = shop.pay((provider, 1000))
    time.sleep(2)
    stage.check(told.state == "succeeded" and daemon.process.poll() is None,
                f"told {told.state}; the process {'runs' if daemon.process.poll() is None else 'ended'}")
