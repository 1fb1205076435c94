"""How kinds of workload are written in KIND/NAME, as kubectl takes them: short, singular and plural names."""

from __future__ import annotations

KIND_OF = {
    **dict.fromkeys(("deploy", "deployment", "deployments"), "Deployment"),
    **dict.fromkeys(("sts", "statefulset", "statefulsets"), "StatefulSet"),
    **dict.fromkeys(("ds", "daemonset", "daemonsets"), "DaemonSet"),
    **dict.fromkeys(("job", "jobs"), "Job"),
    **dict.fromkeys(("cj", "cronjob", "cronjobs"), "CronJob"),
    **dict.fromkeys(("rs", "replicaset", "replicasets"), "ReplicaSet"),
    **dict.fromkeys(("rc", "replicationcontroller", "replicationcontrollers"), "ReplicationController"),
    **dict.fromkeys(("rollout", "rollouts"), "Rollout"),
    **dict.fromkeys(("po", "pod", "pods"), "Pod"),
}
