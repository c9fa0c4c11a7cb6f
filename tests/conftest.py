"""Properties are tried on the same examples everywhere, however slow the machine is: a failure is a fault, on any of them."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("steady")
