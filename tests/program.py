"""The command line as a user has it: a process of its own."""

import os
import signal
import subprocess
import sys

COMMAND = [sys.executable, "-m", "fourierwalk"]


def run(*arguments, folder=None, code=0):
    """Run to the end; the exit code must be as expected (None: any), and no traceback may be shown."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=folder, capture_output=True, text=True, env=environment(), timeout=600
    )
    assert code is None or done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def started(*arguments, folder=None, **streams):
    """A process that is under way."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
        **streams,
    )


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "150", "PYTHONUNBUFFERED": "1"}
