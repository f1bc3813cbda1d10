# SPDX-License-Identifier: Apache-2.0
"""The one exception of this package."""


class Error(Exception):
    """Something cannot be answered or recorded. Its text is one sentence that says why, and what to do."""
