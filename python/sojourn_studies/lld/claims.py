"""Findings, tested on cells."""

from collections.abc import Mapping

from ..framework.claims import Test

TESTS: Mapping[str, Test] = {}
