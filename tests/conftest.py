"""Settings of hypothesis: `ci` by default; `--hypothesis-profile=deep` looks longer."""

from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,  # a machine under load is no bug
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("ci", max_examples=100, **COMMON)
settings.register_profile("deep", max_examples=3000, **COMMON)
settings.load_profile("ci")
