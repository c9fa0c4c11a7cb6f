"""These tests need a Chromium; where there is none they are not collected. `.ci/run` installs one."""

from tests.support.browser import chromium

collect_ignore_glob = [] if chromium() else ["test_*.py"]
