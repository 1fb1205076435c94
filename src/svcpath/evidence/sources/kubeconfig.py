"""A kubeconfig as client-go reads it: several files merged, one context of them, or the service account of a Pod.

Sources: k8s.io/client-go/tools/clientcmd (loader.go: the first file that sets a value or names an entry wins, relative paths
are relative to their own file; client_config.go: what a context means) and rest.InClusterConfig. Library code that does the
same imports every class of the API or hundreds of modules of its own; what is read here is two pages of fields.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from svcpath.errors import FormatError, SourceUnavailable, UsageError
from svcpath.evidence.formats import yamltree

T = TypeVar("T")

#: Where a Pod has its service account.
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """How to reach an API server. ``certificate_authority_data`` is base64, as in the file."""

    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    extensions: tuple[dict[str, Any], ...] | None = None


class Variable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class ExecPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """users[].user.exec (client.authentication.k8s.io)."""

    command: str
    args: tuple[str, ...] | None = None
    env: tuple[Variable, ...] | None = None
    api_version: str = "client.authentication.k8s.io/v1beta1"
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(msgspec.Struct, frozen=True):
    name: str = ""
    config: dict[str, Any] | None = None


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """How to log in. Data fields are base64, as in the file."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: ExecPlugin | None = None
    auth_provider: AuthProvider | None = None
    impersonate: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] | None = None
    as_user_extra: dict[str, tuple[str, ...]] | None = None


class Context(msgspec.Struct, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class _NamedCluster(msgspec.Struct, frozen=True):
    name: str
    cluster: Cluster = msgspec.field(default_factory=Cluster)


class _NamedUser(msgspec.Struct, frozen=True):
    name: str
    user: User = msgspec.field(default_factory=User)


class _NamedContext(msgspec.Struct, frozen=True):
    name: str
    context: Context = msgspec.field(default_factory=Context)


class _File(msgspec.Struct, frozen=True, rename="kebab"):
    current_context: str = ""
    clusters: tuple[_NamedCluster, ...] | None = None
    users: tuple[_NamedUser, ...] | None = None
    contexts: tuple[_NamedContext, ...] | None = None


class Login(msgspec.Struct, frozen=True):
    """One context in full. ``context`` is "" in a Pod."""

    cluster: Cluster
    user: User
    context: str = ""
    namespace: str = "default"


def login(kubeconfig: str = "", context: str = "", environment: Mapping[str, str] = os.environ) -> Login:
    """The chosen context of ``kubeconfig``, else of KUBECONFIG, else of ~/.kube/config, else of the Pod this runs in.

    Raises UsageError for a context that is not there and where nothing is configured, SourceUnavailable for a file that is
    not there, or can't be read or understood.
    """
    files = [Path(kubeconfig)] if kubeconfig else _default_files(environment)
    there = [path for path in files if path.exists()]
    if kubeconfig and not there:
        raise SourceUnavailable(f"no kubeconfig {kubeconfig}: give the path of one with --kubeconfig")
    if not there:
        if not context and (ACCOUNT / "token").exists() and environment.get("KUBERNETES_SERVICE_HOST"):
            return _in_pod(environment)
        if environment.get("KUBECONFIG"):
            raise SourceUnavailable(
                f"KUBECONFIG names no file that exists ({environment['KUBECONFIG']}): set it to one that does, "
                "or give files or folders with --evidence PATH"
            )
        raise UsageError("no evidence and no kubeconfig: give files or folders with --evidence PATH, or set KUBECONFIG")
    return _chosen([_read(path) for path in there], context)


def through_proxy(url: str) -> Login:
    """What a `kubectl proxy` at ``url`` wants: no credentials. Raises UsageError."""
    try:
        parsed = urlsplit(url)
        known = parsed.scheme == "http" and parsed.hostname and parsed.port != 0
    except ValueError:
        known = False
    if not known:
        raise UsageError(f"--api-url {url!r}: give the address at which a kubectl proxy listens, http://127.0.0.1:8001")
    return Login(Cluster(server=url.rstrip("/")), User())


def _default_files(environment: Mapping[str, str]) -> list[Path]:
    named = [Path(part) for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    return named or [Path("~/.kube/config").expanduser()]


def _in_pod(environment: Mapping[str, str]) -> Login:
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        namespace = (ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        namespace = ""
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    cluster = Cluster(server=server, certificate_authority=str(ACCOUNT / "ca.crt"))
    return Login(cluster, User(token_file=str(ACCOUNT / "token")), namespace=namespace or "default")


def _chosen(files: list[_File], wanted: str) -> Login:
    """The first file that has a name gives its whole entry."""
    name = wanted or next((file.current_context for file in files if file.current_context), "")
    if not name:
        raise UsageError(
            "the kubeconfig has no current context: choose one with --context NAME (kubectl config get-contexts)"
        )
    contexts = [entry for file in files for entry in file.contexts or ()]
    context = next((entry.context for entry in contexts if entry.name == name), None)
    if context is None:
        raise UsageError(f"no context {name!r} in the kubeconfig: kubectl config get-contexts lists them")
    clusters = [entry for file in files for entry in file.clusters or ()]
    cluster = next((entry.cluster for entry in clusters if entry.name == context.cluster), None)
    if cluster is None or not cluster.server:
        raise SourceUnavailable(
            f"context {name!r} names cluster {context.cluster!r}, which has no server: kubectl config set-cluster gives it one"
        )
    users = [entry for file in files for entry in file.users or ()]
    user = next((entry.user for entry in users if entry.name == context.user), None)
    if user is None and context.user:
        raise SourceUnavailable(
            f"context {name!r} names user {context.user!r}, which the kubeconfig does not have: kubectl config set-credentials"
        )
    return Login(cluster, user or User(), name, context.namespace or "default")


def _read(path: Path) -> _File:
    try:
        text = path.read_text(encoding="utf-8")
        value = yamltree.load(text).value if text.strip() else {}
        return _absolute(msgspec.convert(_without_nulls(value or {}), _File), path.parent)
    except (OSError, UnicodeDecodeError) as error:
        raise SourceUnavailable(f"the kubeconfig {path} can't be read: {error}") from error
    except (FormatError, msgspec.ValidationError) as error:
        raise SourceUnavailable(f"the kubeconfig {path} can't be used: {error}") from error


def _without_nulls(value: Any) -> Any:
    """A field that is null is one that is not there."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def _absolute(file: _File, folder: Path) -> _File:
    """Relative paths of a file are relative to its folder."""
    folder = folder.absolute()
    replace = msgspec.structs.replace
    clusters = [
        replace(entry, cluster=_paths(entry.cluster, folder, "certificate_authority")) for entry in file.clusters or ()
    ]
    users = []
    for entry in file.users or ():
        user = _paths(entry.user, folder, "client_certificate", "client_key", "token_file")
        plugin = user.exec
        if plugin is not None and os.sep in plugin.command:
            user = replace(user, exec=replace(plugin, command=str(folder / plugin.command)))
        users.append(replace(entry, user=user))
    return replace(file, clusters=tuple(clusters), users=tuple(users))


def _paths(entry: T, folder: Path, *names: str) -> T:
    found = {name: str(folder / getattr(entry, name)) for name in names if getattr(entry, name)}
    return msgspec.structs.replace(entry, **found)  # type: ignore[type-var]


def decoded(data: str, what: str) -> bytes:
    """The bytes of a base64 field. Raises SourceUnavailable."""
    try:
        return base64.b64decode(data, validate=False)
    except binascii.Error as error:
        raise SourceUnavailable(f"{what} of the kubeconfig is not base64: {error}") from error
