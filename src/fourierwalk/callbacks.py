"""scikit-learn's callbacks, where it has them (from 1.9 on): each decision of a fit is a task that they are told of."""

from __future__ import annotations

from typing import Any

from fourierwalk.training.history import Decision, Event

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Callbacks", "with_callbacks"]


class Callbacks:
    """Tells the callbacks that an estimator was given by ``set_callbacks``, if any, how its fit goes on.

    Parameters
    ----------
    estimator : CallbackSupportMixin
        The estimator that is being fitted.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator, self._context = estimator, None
        if getattr(estimator, "_skl_callbacks", None):
            self._context = estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=estimator)

    def see(self, event: Event) -> bool:
        """Whether a callback wants the fit to end."""
        if self._context is None or not isinstance(event, Decision):
            return False
        task = self._context.subcontext(task_name=event.text)
        task.call_on_fit_task_begin(estimator=self._estimator)
        return bool(task.call_on_fit_task_end(estimator=self._estimator))

    def end(self) -> None:
        """The fit is done."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator)
