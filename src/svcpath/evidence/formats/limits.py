"""How much of one file is read. A file above its limit is refused whole, with the limit in the message.

The limits are generous for what tools print (a List of 10,000 Services with 100,000 endpoints is about 45 MiB of
indented JSON) and small enough that hostile input can't exhaust memory.
"""

from __future__ import annotations

MIB = 1024 * 1024

#: Bytes of one file as it lies there, compressed or not.
MAX_FILE = 256 * MIB
#: Bytes that a compressed file may expand to.
MAX_EXPANDED = 256 * MIB
#: Bytes of one JSON document or stream of documents.
MAX_JSON = 64 * MIB
#: Bytes of one YAML file.
MAX_YAML = 16 * MIB
#: Nesting of collections in YAML and JSON. Kubernetes objects stay below 30.
MAX_DEPTH = 100
#: Nodes of one YAML document after its aliases are expanded.
MAX_NODES = 2_000_000
#: Files that one evidence folder or archive may hold.
MAX_FILES = 50_000
