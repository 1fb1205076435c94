"""What a manifest says against its own drain, each rule with a code of the catalogue and the field it is about.

Rules look at one workload with what stands around it and give plain findings; nothing here decides a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from svcpath.models.drain.budget import Budget
from svcpath.models.drain.lint import fronts, hooks, meshes, replicas
from svcpath.models.drain.lint.rule import Around, Level, LintFinding

__all__ = ["Around", "Level", "LintFinding", "lint"]

RULES: tuple[Callable[[Budget, Around], Iterable[LintFinding]], ...] = (
    hooks.outlasts_grace,
    hooks.refused,
    hooks.never_runs,
    hooks.needs_shell,
    hooks.missing,
    hooks.second_container,
    hooks.no_grace,
    replicas.removes_all,
    replicas.blocked,
    fronts.slow_health_check,
    fronts.keep_alive,
    fronts.affinity,
    fronts.annotated,
    meshes.injected,
)


def lint(budget: Budget, around: Around) -> tuple[LintFinding, ...]:
    """All findings about one workload, in the order of the rules."""
    return tuple(finding for rule in RULES for finding in rule(budget, around))
