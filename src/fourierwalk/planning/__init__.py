"""Planning: the seconds, the memory and the traffic of a fit, before it is begun."""

from fourierwalk.planning.machine import Machine
from fourierwalk.planning.plan import Plan, Work, plan

__all__ = ["Machine", "Plan", "Work", "plan"]
