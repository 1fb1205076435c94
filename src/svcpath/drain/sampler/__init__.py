"""Sample a service from inside a cluster: one file of standard-library Python that can be piped into any container. Its
parts are beside this; `python -m svcpath.drain.sampler.whole > sampler.py` writes the file.

    kubectl exec -i POD -- python3 - new=50 keepalive=10 slow=1 stream=1 udp=0 http://SERVICE/hostname < sampler.py

Each sampled connection or request is one line of JSON on standard output: when the schedule wanted it, when it began, was
connected, had its first byte and ended (seconds since the epoch), the peer that answered (the body's first word, else the
address), and its outcome. The rate is held by the schedule and not by sleeping between requests: a late start is counted
from the time it was due, so that a stall shows as latency and not as silence (no coordinated omission).

Kinds: new (a connection each), keepalive (a request each on one reused connection), slow (long requests), stream (an open
chunked response), websocket (a message each on one connection, RFC 6455), grpc (a call each on one channel; where the
container's Python has the grpc module), udp (a datagram and its echo). Options: seconds=S to run, timeout=S,
slow_seconds=S, slow_path=P, stream_path=P, websocket_path=P, grpc_method=/PACKAGE.SERVICE/METHOD, udp_port=N, mark=N (each
new, slow and stream request has "id=NUMBER" in its query, counted from N, and its row too), resolve=S (new, slow and stream
ask for the name again after S seconds; 0: for every connection), at_once=N (so many connections of a kind are open at
most, others begin late; 0: what the container's limit of open files allows), until_input_ends=1. SIGTERM, or with the last
the end of standard input, ends it after what is under way.
"""
