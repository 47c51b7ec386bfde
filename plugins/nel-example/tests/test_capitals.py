"""The sample benchmark keeps nel's contract."""

from nel.discovery.conformance import check_plugin


def test_conformance() -> None:
    """The plugin passes nel's own check."""
    assert [finding for finding in check_plugin("example-capitals") if not finding.passed] == []
