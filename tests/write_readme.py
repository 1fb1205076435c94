"""`python -m tests.write_readme`: write the README's console blocks from what the commands print now."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```console\n\$ (svcpath [^\n]*)\n.*?^```$", re.MULTILINE | re.DOTALL)
NEEDS_A_CLUSTER = ("lab", "drain")


def main() -> None:
    def written(match: re.Match[str]) -> str:
        words = shlex.split(match[1])
        if words[1] in NEEDS_A_CLUSTER or "--context" in words:
            return match[0]
        command = [str(Path(sys.executable).with_name("svcpath")), *words[1:]]
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
        return f"```console\n$ {match[1]}\n{done.stdout.rstrip()}\n```"

    readme = ROOT / "README.md"
    readme.write_text(BLOCK.sub(written, readme.read_text()))


if __name__ == "__main__":
    main()
