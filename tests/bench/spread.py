# SPDX-License-Identifier: GPL-3.0-or-later
"""How figures of several rounds are printed: their median, and in parentheses the lowest and the highest."""
import statistics


def spread(values, form="{:.2f}"):
    values = list(values)
    middle, least, most = (form.format(one) for one in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({least} to {most})"
