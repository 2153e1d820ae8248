"""How long random tests look: `HYPOTHESIS_PROFILE` = default, ci or storm; the last looks at thirty times as much."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

_SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile("default", max_examples=60, deadline=None, print_blob=True, suppress_health_check=_SLOW_DRAWS)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.register_profile("storm", settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:  # as a shell starts what runs in its background, and `nohup` all
        signal.signal(number, usual)
"""What is started by a test hears ctrl-C and a hang-up, wherever the tests run."""
