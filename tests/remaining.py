"""A pytest plugin that remembers which tests have passed: ``--remaining`` leaves those of the last run out.

CI runs the suite, installs torch, and runs the rest: tests that were skipped, or not collected, for want of it.
"""

import pytest

PASSED = "remaining/passed"


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option."""
    parser.addoption("--remaining", action="store_true", help="run only what the last full run has not passed")


def pytest_configure(config: pytest.Config) -> None:
    """A run with the option adds to what has passed; one without begins anew."""
    before = config.cache.get(PASSED, []) if config.getoption("remaining") else []
    config.pluginmanager.register(Passed(set(before)))


class Passed:
    """The tests that have passed, by their names."""

    def __init__(self, before: set[str]) -> None:
        self.before, self.now = before, set(before)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what has passed before."""
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in self.before])
        items[:] = [item for item in items if item.nodeid not in self.before]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test whose call has passed."""
        if report.when == "call" and report.passed:
            self.now.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the names down; workers leave that to the process that started them."""
        if not hasattr(session.config, "workerinput"):
            session.config.cache.set(PASSED, sorted(self.now))
