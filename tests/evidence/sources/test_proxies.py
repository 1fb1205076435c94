"""Proxies of the environment: the values are those of Go's http.ProxyFromEnvironment (Go 1.26.8), which client-go asks."""

from __future__ import annotations

import pytest

from svcpath.evidence.sources.proxies import from_environment

BOTH = {"HTTPS_PROXY": "http://secure:1", "HTTP_PROXY": "plain:2"}


@pytest.mark.parametrize(
    ("url", "through"),
    [
        ("https://api.corp.example:6443", "http://secure:1"),
        ("http://api.corp.example:8001", "http://plain:2"),
        ("https://127.0.0.1:6443", ""),
        ("https://localhost:6443", ""),
        ("https://[::1]:6443", ""),
        ("https://10.0.0.5:6443", "http://secure:1"),
    ],
)
def test_the_scheme_chooses_and_loopback_has_none(url: str, through: str) -> None:
    assert from_environment(url, BOTH) == through


@pytest.mark.parametrize(
    ("no_proxy", "without"),
    [
        ("*", {"name", "sub", "v4", "v6"}),
        ("foo, 10.0.0.0/8 ,bar", {"v4"}),
        ("fd00::/8", {"v6"}),
        ("10.0.0.5", {"v4"}),
        ("::ffff:10.0.0.5", {"v4"}),
        ("10.0.0.5:443", set()),
        ("10.0.0.5:6443", {"v4"}),
        ("[fd00::5]:6443", {"v6"}),
        ("[fd00::5]", set()),
        ("CORP.example", {"name", "sub"}),
        (".corp.example", {"sub"}),
        ("*.corp.example", {"sub"}),
        ("*corp.example", set()),
        ("corp.example:443", set()),
        ("10.0.0.0/33", set()),
        (":6443", set()),
        ("", set()),
    ],
)
def test_no_proxy_names_addresses_networks_and_domains(no_proxy: str, without: set[str]) -> None:
    urls = {
        "name": "https://corp.example:6443",
        "sub": "https://api.Corp.example:6443",
        "v4": "https://10.0.0.5:6443",
        "v6": "https://[fd00::5]:6443",
    }
    found = {key for key, url in urls.items() if from_environment(url, {**BOTH, "NO_PROXY": no_proxy}) == ""}
    assert found == without


def test_an_empty_upper_case_name_leaves_the_lower_case_one() -> None:
    assert from_environment("https://a:1", {"HTTPS_PROXY": "", "https_proxy": "https://lower:1"}) == "https://lower:1"
