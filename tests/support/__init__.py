# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests that start processes share: processes, peers, mail as it should look."""
