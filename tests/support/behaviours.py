# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of bhm's behaviours as text, and its books as these tests compare them."""
import json

from .watched import OUTCOMES, check_outcomes


def rule(stage, what, when="", name="the rule"):
    """A rule about one stage; `what` and `when` are lines of TOML."""
    return f"[[rule]]\nname = {json.dumps(name)}\n{when}\n[rule.{stage}]\n{what}\n\n"


def outcomes(record):
    """Those that there were any of, and that they add up."""
    check_outcomes(record)
    return {name: record["totals"][name] for name in ("started", *OUTCOMES) if record["totals"][name]}


def ended(units=1, **how):
    """outcomes() of a run whose messages ended so: ended(2, messages=1, rejected=1)."""
    return {"started": units, **how} if units else {}


def errors(record):
    """(stage, code or reason, count) of each, in a fixed order."""
    return sorted(((one["stage"], one["code"] or one["reason"], one["count"]) for one in record["errors"]), key=str)


def refusals(record, code):
    """How often it was said, at whatever stage."""
    return sum(one["count"] for one in record["errors"] if one["code"] == code)
