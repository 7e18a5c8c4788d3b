"""Runs stories against a program. See README.md."""

import argparse
import os
import signal
import subprocess
import sys
import time
import traceback

from . import stories
from .stage import Skipped, Stage

VERDICTS = ("PASS", "FAIL", "SKIP", "OPEN")
LONGEST = 60 + 8 * max(0, int(os.environ.get("OUTSIDE_KILLS", "3")) - 3)  # seconds that a story may take


def main():
    known = stories.load()
    arguments = read_arguments(known)
    if arguments.story == "list":
        for each in known.values():
            print(f"{each.name:24} {each.defect:4} {each.sentence}")
        return 0
    if arguments.story in known:
        return play(known[arguments.story], arguments)
    chosen = [each for each in known.values() if arguments.story in ("all", each.defect.lower())]
    return play_all(chosen, arguments)


def read_arguments(known):
    parser = argparse.ArgumentParser(prog="run", description="Stories told to a daemon from outside.")
    groups = sorted({each.defect.lower() for each in known.values()})
    parser.add_argument(
        "story", metavar="STORY", help="a story, a defect such as a1, all, or list",
        choices=["all", "list", *groups, *known])
    parser.add_argument("--program", default="reconciled", help="the daemon's program")
    parser.add_argument(
        "--postgres", metavar="URL", help="a server for the stores, in schemas of their own; else SQLite files")
    parser.add_argument("--keep", action="store_true", help="leave the story's directory, with the daemon's log")
    parser.add_argument("--jobs", type=int, default=2, help="stories at a time, of several")
    parser.add_argument(
        "--open", default="", metavar="NAMES",
        help="stories of several that are known to fail, by their names: one of them that passes is an error")
    arguments = parser.parse_args()
    arguments.open = {name for name in arguments.open.split(",") if name}
    if unknown := arguments.open - set(known):
        parser.error(f"no such story: {', '.join(sorted(unknown))}")
    return arguments


def play(story, arguments):
    """Plays one story in this process. Returns 0 if it passed."""
    stage = Stage(program_of(arguments), arguments.postgres)
    began = time.monotonic()
    bound_time()
    try:
        story.play(stage)
    except Skipped as reason:
        print(f"SKIP {story.name} ({story.defect}): {reason}")
        return 0
    except Exception as error:  # noqa: BLE001 whatever broke, the story did not pass
        stage.check(False, f"broken off: {type(error).__name__}: {str(error)[:400]}")
        if arguments.keep:
            traceback.print_exc()
    finally:
        signal.alarm(0)
        stage.check_itself()
        stage.close(arguments.keep)
    verdict = "PASS" if stage.passed else "FAIL"
    print(f"{verdict} {story.name} ({story.defect}, {time.monotonic() - began:.0f} s): {story.sentence}")
    for good, text in stage.checks:
        print(f"  {'ok ' if good else 'BAD'} {text}")
    if arguments.keep:
        print(f"  kept: {stage.directory}")
    return 0 if stage.passed else 1


def program_of(arguments):
    """The program by a path that holds in every directory; a bare name is looked for as a shell does."""
    return os.path.abspath(arguments.program) if os.sep in arguments.program else arguments.program


def bound_time():
    """Breaks the story off when it takes too long, or when it is told to end; its processes are ended then too."""
    def break_off(number, frame):
        raise TimeoutError(f"broken off by {signal.Signals(number).name} ({LONGEST} s at the most)")
    signal.signal(signal.SIGALRM, break_off)
    signal.signal(signal.SIGTERM, break_off)
    signal.alarm(LONGEST)


def play_all(chosen, arguments):
    """Plays each story in a process of its own, some at a time, and prints a table. Returns 0 if none failed."""
    waiting, running, results = list(chosen), [], {}
    while waiting or running:
        while waiting and len(running) < arguments.jobs:
            running.append(begin(waiting.pop(0), arguments))
        time.sleep(0.1)
        for child in list(running):
            if has_ended(child):
                running.remove(child)
                story, process, _ = child
                words = process.stdout.read()
                results[story.name] = words
                print(words, end="", flush=True)
    return print_table(chosen, results, arguments.open)


def print_table(chosen, results, expected):
    """One line for each story, with the first thing that is wrong. Returns 0 if nothing is but what is expected."""
    verdicts = dict.fromkeys(VERDICTS, 0)
    print()
    for story in chosen:
        words = results[story.name]
        bad = next((line.strip()[4:] for line in words.splitlines() if line.startswith("  BAD")), "")
        # Not always the first line: a provider that is stopped within a delayed answer may say so before.
        told = (line[:4] for line in words.splitlines() if line[:4] in VERDICTS and line[4:5] == " ")
        verdict = next(told, "FAIL")
        if story.name in expected and verdict != "SKIP":
            verdict, bad = ("OPEN", bad) if verdict == "FAIL" else ("FAIL", "it passes: it is not open any more")
        verdicts[verdict] += 1
        print(f"{verdict}  {story.defect:4} {story.name:24} {bad[:140]}")
    print(
        f"{verdicts['PASS']} pass, {verdicts['FAIL']} fail, {verdicts['OPEN']} are known to fail, "
        f"{verdicts['SKIP']} are skipped")
    return 1 if verdicts["FAIL"] else 0


def begin(story, arguments):
    words = [sys.executable, "-m", "outside", story.name, "--program", program_of(arguments)]
    words += ["--postgres", arguments.postgres] if arguments.postgres else []
    process = subprocess.Popen(
        words + (["--keep"] if arguments.keep else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True)
    return story, process, time.monotonic()


def has_ended(child):
    _, process, began = child
    if process.poll() is None and time.monotonic() - began > LONGEST + 20:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.poll() is not None


if __name__ == "__main__":
    sys.exit(main())
