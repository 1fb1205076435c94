"""What the JVM keeps of a lookup, and for how long (apache/hugegraph#3124: measured on Temurin 11)."""

from __future__ import annotations

import pytest

from svcpath.models.resolvers.base import LookupOutcome, ResolverRule
from svcpath.models.resolvers.runtimes.jvm import Settings, policy, recall, refresh, store

RULE = ResolverRule("", "")
FOUND = LookupOutcome(ok=True, addresses=("10.0.0.1",), rule=RULE)
FAILED = LookupOutcome(
    ok=False, code="UnknownHostException", text="java.net.UnknownHostException: x: Try again", rule=RULE
)


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        (Settings(), 30),
        (Settings(security_manager=True), -1),
        (Settings(security_manager=True, flags=("-Dsun.net.inetaddr.ttl=30",)), 30),
        (Settings(security_manager=True, flags=("-Dnetworkaddress.cache.ttl=30",)), -1),
        (
            Settings(
                security_manager=True,
                flags=("-Dsun.net.inetaddr.ttl=30",),
                security={"networkaddress.cache.ttl": "60"},
            ),
            60,
        ),
        (Settings(security={"networkaddress.cache.ttl": "0"}), 0),
        (Settings(security={"networkaddress.cache.ttl": "-7"}), -1),
        (Settings(security={"networkaddress.cache.ttl": "soon"}), 30),
        (Settings(security_manager=True, version=25), 30),
    ],
)
def test_the_positive_ttl_comes_from_the_property_then_the_flag_then_the_default(
    settings: Settings, seconds: int
) -> None:
    assert policy(settings).positive == seconds


def test_a_security_property_given_as_a_flag_is_named_as_ineffective() -> None:
    notes = policy(Settings(flags=("-Dnetworkaddress.cache.ttl=5",))).ineffective
    assert len(notes) == 1
    assert "-Dnetworkaddress.cache.ttl" in notes[0]


def test_a_temporary_failure_is_cached_like_a_missing_name_and_loses_its_reason() -> None:
    kept = policy(Settings())
    entry = store(kept, "x", FAILED, 0.0)
    served = recall(entry, "x", 9.9)
    assert served is not None
    assert served.text == "java.net.UnknownHostException: x"
    assert recall(entry, "x", 10.0) is None
    assert recall(entry, "X", 1.0) is None, "the key is the exact text"


def test_for_ever_never_expires_and_never_is_never_kept() -> None:
    assert recall(store(policy(Settings(security_manager=True)), "x", FOUND, 0.0), "x", 1e9) is not None
    assert store(policy(Settings(security={"networkaddress.cache.ttl": "0"})), "x", FOUND, 0.0) is None


@pytest.mark.parametrize(("version", "served"), [(17, False), (21, True)])
def test_a_stale_success_outlives_a_failed_refresh_from_jdk_21_on(version: int, served: bool) -> None:
    kept = policy(Settings(version=version, security={"networkaddress.cache.stale.ttl": "60"}))
    entry = store(kept, "x", FOUND, 0.0)
    assert recall(entry, "x", 31.0) is None
    outcome, _ = refresh(kept, entry, FAILED, 31.0)
    assert outcome.ok is served
