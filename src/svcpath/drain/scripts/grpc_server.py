"""A gRPC server whose way of stopping is chosen: /drain.Echo/Hostname answers with the host's name.

Environment: PORT, ON_STOP exit | finish | none, MAX_AGE seconds after which a connection is sent GOAWAY
(GRPC_ARG_MAX_CONNECTION_AGE_MS, gRFC A9; 0: never). Needs Python's grpc module. Every line of its log begins with the time
in seconds since the epoch.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc

HOST = socket.gethostname()


def say(text: str) -> None:
    sys.stdout.write(f"{time.time():.6f} {text}\n")
    sys.stdout.flush()


def hostname(request: bytes, context: grpc.ServicerContext) -> bytes:
    say(f"accepted {context.peer()}")
    return f"{HOST}\n".encode()


def main() -> None:
    age, on_stop = float(os.environ.get("MAX_AGE", "0")), os.environ.get("ON_STOP", "finish")
    options = []
    if age:
        options = [("grpc.max_connection_age_ms", int(age * 1000)), ("grpc.max_connection_age_grace_ms", 5000)]
    server = grpc.server(ThreadPoolExecutor(16), options=options)
    methods = {"Hostname": grpc.unary_unary_rpc_method_handler(hostname)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("drain.Echo", methods),))
    server.add_insecure_port(f"[::]:{os.environ.get('PORT', '8080')}")
    ended = threading.Event()

    def stop(number: int, _: object) -> None:
        say(f"signal {signal.Signals(number).name}")
        if on_stop == "exit":
            os._exit(0)
        ended.set()

    if on_stop != "none":
        signal.signal(signal.SIGTERM, stop)
    server.start()
    say("ready")
    while not ended.wait(0.05):
        pass
    server.stop(grace=30).wait()
    say("end")


if __name__ == "__main__":
    main()
