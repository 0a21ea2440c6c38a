"""Bad engines in one file: `python engines.py KIND` speaks GTP until it does something wrong.

Kinds: good, slow_start, silent, exit, crash, kill, hang, garbage, endless, illegal, nonsense,
refuse, close, deaf, helper, slow, waiting, stubborn, daemon.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

KIND = sys.argv[1] if len(sys.argv) > 1 else "good"
COMMANDS = "name version list_commands boardsize clear_board komi play genmove undo quit"


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def genmove(count: int) -> None:
    """Do what this kind of engine does when it should move."""
    sys.stderr.write(f"thinking about move {count}\n")
    sys.stderr.flush()
    if KIND == "exit":
        sys.exit(0)
    elif KIND == "crash":
        sys.stderr.write("out of luck\n")
        sys.exit(7)
    elif KIND == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif KIND == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
    elif KIND == "garbage":
        say("hello, I am not GTP\n\n")
    elif KIND == "endless":
        say("= ")
        while True:
            say("x" * 100_000)
    elif KIND == "slow":
        time.sleep(3)
        say("= pass\n\n")
    elif KIND == "waiting":  # for a word from outside
        Path(sys.argv[2], "begun").touch()
        while not Path(sys.argv[2], "word").exists():
            time.sleep(0.02)
        say("= pass\n\n")
    elif KIND == "illegal":
        say("= A1\n\n")
    elif KIND == "nonsense":
        say("= Q77\n\n")
    elif KIND == "refuse":
        say("? I do not feel like it\n\n")
    elif KIND == "close":
        os.close(1)
        time.sleep(1000)
    else:
        say("= pass\r\n\r\n")


def linger(*, apart: bool) -> None:
    """Leave a child behind that nothing but a kill ends; apart: in a session of its own."""
    child = os.fork()
    if child == 0:
        if apart:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
        time.sleep(1000)
        os._exit(0)
    if apart:
        os.waitpid(child, 0)  # only the one in between ends


def lines() -> Iterator[str]:
    """Yield the lines of input; a stubborn engine hears neither `quit` nor the end."""
    for line in sys.stdin:
        if KIND != "stubborn" or line.strip() != "quit":
            yield line
    if KIND in ("stubborn", "daemon"):
        time.sleep(1000)


def main() -> None:
    """Read commands and answer, more or less."""
    if KIND == "slow_start":
        time.sleep(1000)
    if KIND == "silent":
        sys.exit(0)
    if KIND == "helper":
        # A child that would outlive us if nobody ended the whole group.
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        sys.stderr.write(f"child {child.pid}\n")
        sys.stderr.flush()
    if KIND in ("stubborn", "daemon"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        linger(apart=False)
    if KIND == "daemon":
        linger(apart=True)
    count = 0
    for line in lines():
        words = line.split()
        if not words:
            continue
        if words[0] == "quit":
            if KIND == "deaf":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
            say("=\n\n")
            return
        if words[0] == "genmove":
            genmove(count)
            count += 1
        elif words[0] == "list_commands":
            say("= " + COMMANDS.replace(" ", "\n") + "\n\n")
        elif words[0] in ("name", "version"):
            say(f"= {KIND}\n\n")
        elif words[0] in COMMANDS:
            say("=\n\n")
        else:
            say("? unknown command\n\n")


if __name__ == "__main__":
    main()
