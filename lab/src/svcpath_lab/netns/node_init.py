"""Process 1 of a node: sets the node's mounts up, says that it is ready, and reaps what is left to it.

Started by nodes.py as ``unshare --net --mount --pid --uts --ipc --fork ... python -I node_init.py SPEC``; a file of its
own, without imports from the package, since it runs in the node's namespaces. SPEC is a JSON file:

    hostname   the node's name
    var        folder that becomes the node's /var ("" for a namespace without Kubernetes)
    keep       folders that must stay where they are although they lie below /var or /run
    pinned     files below /proc/sys and the text they show in the node: kubelet sets those for a whole machine
    ready      file to make when all is done
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
from typing import Any

MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str = "none", flags: int = 0, data: str = "") -> None:
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode() or None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"mount {source} on {target}: {os.strerror(code)}")


def set_up(spec: "dict[str, Any]") -> None:
    LIBC.sethostname(spec["hostname"].encode(), len(spec["hostname"]))
    mount("none", "/", flags=MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc")
    if not spec["var"]:
        return
    # Hold what must stay before /var and /run change: open folders survive in /proc/self/fd.
    kept = [(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY)) for path in spec["keep"]]
    cgroups = os.open("/sys/fs/cgroup", os.O_RDONLY | os.O_DIRECTORY)
    mount(spec["var"], "/var", flags=MS_BIND)
    mount("tmpfs", "/run", "tmpfs", data="mode=755")
    for path, handle in kept:
        if os.path.realpath(path).startswith(("/var/", "/run/")):
            os.makedirs(path, exist_ok=True)
            mount(f"/proc/self/fd/{handle}", path, flags=MS_BIND)
        os.close(handle)
    # A sysfs of this network namespace, with the machine's cgroup mounts in their place.
    mount("sysfs", "/sys", "sysfs")
    mount(f"/proc/self/fd/{cgroups}", "/sys/fs/cgroup", flags=MS_BIND | MS_REC)
    os.close(cgroups)
    os.makedirs("/run/pinned", exist_ok=True)
    for number, (path, text) in enumerate(sorted(spec["pinned"].items())):
        if os.path.exists(path):
            shown = f"/run/pinned/{number}"
            with open(shown, "w") as out:
                out.write(text + "\n")
            mount(shown, path, flags=MS_BIND)


def reap_for_ever() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        signal.sigwait({signal.SIGCHLD})
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


def main() -> None:
    with open(sys.argv[1]) as stream:
        spec = json.load(stream)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    set_up(spec)
    with open(spec["ready"], "w") as out:
        out.write("ready\n")
    reap_for_ever()


if __name__ == "__main__":
    main()
