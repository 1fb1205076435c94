"""Rules of nftables in the three forms they come in: listed, as JSON, and as the commands that made them.

``listing`` reads the blocks of `nft list`; its rules are recognised by their shape (``shapes``) or read statement by
statement (``statements``: ``selectors`` for what a rule looks at, ``maps`` for elements and spreads, ``tokens`` for
words). ``json_document`` and ``json_expressions`` read `nft -j`, ``commands`` the input of `nft -f`.
"""

from svcpath.models.dataplanes.nftables.listing import parse

__all__ = ["parse"]
