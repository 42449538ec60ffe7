"""A browser is named with its system."""

from edge.dashboard.browser import browser_of

_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


def test_a_browser_is_named_with_its_system() -> None:
    for agent, words in (
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128 on Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/140.0.0.0 Safari/537.36",
            "Chrome 140 on Windows",
        ),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {_WEBKIT} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
            "Edge 140 on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
            "Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari 18 on iPhone",
        ),
        (f"Mozilla/5.0 (Linux; Android 14; Pixel) {_WEBKIT} Chrome/140.0.0.0 Mobile", "Chrome 140 on Android"),
        (f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} HeadlessChrome/156.0.0.0 Safari/537.36", "Chrome 156 on Linux"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("x" * 500, "x" * 60),
        ("", "unknown"),
    ):
        assert browser_of(agent) == words, agent
