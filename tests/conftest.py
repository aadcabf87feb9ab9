"""Settings of hypothesis, and the fixtures that several areas share.

By default every run looks at 100 examples of its own; a continuous integration run (`CI` is set) at the same 100
each time, so that what lands does not hang on luck; `--hypothesis-profile=deep` at 3,000.
"""

import os
import signal

from hypothesis import HealthCheck, settings

pytest_plugins = ["headless_browser"]

COMMON = {
    "deadline": None,  # a machine under load is no bug
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("search", max_examples=100, **COMMON)
settings.register_profile("ci", max_examples=100, derandomize=True, **COMMON)
settings.register_profile("deep", max_examples=3000, **COMMON)
settings.load_profile("ci" if os.environ.get("CI") else "search")


# A job in the background or under nohup inherits that signals are ignored, and hands it on to the children of
# tests, which are to begin as at a terminal. What is handled here is the default again in a child.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGQUIT", None), ("SIGHUP", None)):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _handler or (lambda *_: None))
