"""What all tests share: Ctrl-C means what it means to a user."""

from __future__ import annotations

import signal

# A shell that starts the tests in the background leaves SIGINT ignored, for all children too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
