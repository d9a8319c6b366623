"""Runs attacks at one level and prints their outcomes: ``run_attacks.py LEVEL [NAME...]``."""

from __future__ import annotations

import json
import os
import sys

from kernel.confinement.attacks import ATTACKS, BY_NAME
from kernel.confinement.self_test import run_attacks

if __name__ == "__main__":
    level, *names = sys.argv[1:]
    attacks = [BY_NAME[name] for name in names] or ATTACKS
    found = run_attacks(level, attacks=attacks)
    outcomes = {verdict.attack.name: [verdict.outcome, verdict.detail] for verdict in found}
    print(json.dumps({"uid": os.getuid(), "outcomes": outcomes}))
