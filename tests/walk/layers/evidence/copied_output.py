"""Files as they are copied from a terminal, and files that are no evidence."""

from __future__ import annotations

import json

import yaml

from tests.fixtures.cluster import Cluster, cluster
from tests.walk.layers.inputs import broken, sound

# --- files that are no evidence ----------------------------------------------------------------------------------------


@sound()
def a_charts_template_beside_the_objects() -> Cluster:
    made = cluster().settle()
    made.files["templates/service.yaml"] = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n"
    return made


@sound("SP001")
def a_headless_service_beside_a_damaged_dump() -> Cluster:
    made = cluster(clusterIP="None").settle()
    made.files["w1.iptables-save.txt"] = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -m comment --comm"
    return made


@sound()
def files_whose_lines_end_as_a_terminal_ends_them() -> Cluster:
    made = cluster().settle()
    made.dumps = True
    files = made.evidence()
    made.sockets.clear()
    made.dumps = False
    made.files = {path: raw.decode().replace("\n", "\r\n") for path, raw in files.items() if path != "objects.json"}
    return made


# --- what a terminal printed beside it ---------------------------------------------------------------------------------


WARNINGS = (
    "W1130 12:00:00.000000   12345 warnings.go:70] v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1\n"
    "Warning: v1 ComponentStatus is deprecated in v1.19+\n"
)


def _closed(objects: str = "", sockets: str = "") -> Cluster:
    """Nothing listens on 8080; ``objects`` and ``sockets`` are templates around what kubectl printed."""
    made = cluster().settle()
    made.sockets = {name: [("tcp", "0.0.0.0", 9000)] for name in made.sockets}
    files = {path: text.decode() for path, text in made.evidence().items()}
    return Cluster(
        files={
            path: (objects if path == "objects.json" else sockets or "{}").replace("{}", text)
            for path, text in files.items()
        }
    )


@broken("fault", "ports", "SP403", "8080", "9000")
def warnings_of_kubectl_before_its_output() -> Cluster:
    return _closed(WARNINGS + "{}")


@broken("fault", "ports", "SP403", "8080", "9000")
def the_container_that_kubectl_chose_before_what_it_printed() -> Cluster:
    return _closed("{}", 'Defaulted container "main" out of: main, proxy\n{}command terminated with exit code 1\n')


@broken("fault", "ports", "SP403", "8080", "9000")
def a_prompt_behind_documents_of_yaml() -> Cluster:
    made = _closed("{}")
    listing = json.loads(made.files.pop("objects.json"))
    made.files["objects.yaml"] = yaml.safe_dump_all(listing["items"]) + "ops@bastion:~/incident$ exit\n"
    return made


@sound()
def warnings_of_kubectl_before_a_healthy_output() -> Cluster:
    made = cluster().settle()
    files = {path: text.decode() for path, text in made.evidence().items()}
    return Cluster(files={path: WARNINGS + text if path == "objects.json" else text for path, text in files.items()})


# --- a file that breaks off --------------------------------------------------------------------------------------------


def _table_with_one_more(end: str) -> Cluster:
    """Both nodes send to three Pods, the slice names two; the file of objects ends in ``end``."""
    three = cluster(3).settle()
    three.dumps = True
    dumps = {path: raw.decode() for path, raw in three.evidence().items() if path.endswith(".iptables-save.txt")}
    two = cluster(2).settle()
    objects = yaml.safe_dump_all(two.objects) + end
    return Cluster(files={**dumps, "objects.yaml": objects}, sockets=two.sockets)


@broken("fault", "dataplane", "SP603", "10.244.1.13")
def a_backend_in_no_slice_of_a_whole_file() -> Cluster:
    return _table_with_one_more("")


@broken("inconclusive", None, "SP001", "objects.yaml")
def a_backend_in_no_slice_of_a_file_that_is_cut_off() -> Cluster:
    return _table_with_one_more('---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: "web-')
