"""The recording: one SQLite file in WAL mode, in which each event stands once.

A watch event and the resourceVersion that it moves the watch to are committed together, so a recorder that is killed at
any moment resumes exactly behind what is in the file. Times are wall-clock seconds and the monotonic clock of the session
that received them. SQLite's WAL with synchronous=NORMAL loses nothing committed when the process dies.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from svcpath.errors import FormatError, SourceUnavailable
from svcpath.models.drain.moments import PlaneChange, Remark, SampledConnection

MAGIC = b"SQLite format 3\x00"
VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, resource TEXT NOT NULL, uid TEXT NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,
  type TEXT NOT NULL, wall REAL NOT NULL, mono REAL NOT NULL, session INTEGER NOT NULL, body BLOB NOT NULL,
  gone INTEGER NOT NULL, UNIQUE (resource, uid, version, gone));
CREATE TABLE IF NOT EXISTS positions (resource TEXT PRIMARY KEY, version TEXT NOT NULL, wall REAL NOT NULL);
CREATE TABLE IF NOT EXISTS gaps (resource TEXT NOT NULL, since REAL NOT NULL, until REAL NOT NULL, why TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS connections (
  source TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, due REAL NOT NULL, start REAL NOT NULL,
  connected REAL, first_byte REAL, end REAL NOT NULL, peer TEXT NOT NULL, outcome TEXT NOT NULL, status INTEGER NOT NULL,
  detail TEXT NOT NULL, PRIMARY KEY (source, number));
CREATE TABLE IF NOT EXISTS planes (
  node TEXT NOT NULL, at REAL NOT NULL, after REAL NOT NULL, frontend TEXT NOT NULL, backend TEXT NOT NULL,
  present INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS remarks (at REAL NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, wall REAL NOT NULL, mono REAL NOT NULL, skew REAL, ended REAL);
"""


_OPTIONS: dict[str, Any] = {"check_same_thread": False, "isolation_level": None, "timeout": 30}


def _read_only(path: Path) -> sqlite3.Connection:
    """The file as it is. Without a write-ahead log beside it nothing writes, and SQLite need not make one to read."""
    log = path.with_name(f"{path.name}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    db: sqlite3.Connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, **_OPTIONS)
    return db


@dataclass(frozen=True, slots=True)
class ObjectState:
    """One state of an object. ``type`` LISTED, ADDED, MODIFIED, DELETED, or VANISHED (a list no longer held it);
    ``wall`` and ``mono`` when it was received; ``body`` the object's JSON as it came."""

    resource: str
    uid: str
    name: str
    version: str
    type: str
    wall: float
    mono: float
    body: bytes


@dataclass(frozen=True, slots=True)
class WatchGap:
    resource: str
    since: float
    until: float
    why: str


class Store:
    """A recording that is open for writing (from several threads) and reading."""

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        """Opens or makes the file; only ``reading`` changes nothing of it. Raises SourceUnavailable when it can't,
        FormatError when it is something else."""
        self._lock = threading.RLock()
        self._path = path
        self.session = 0
        try:
            self._db = _read_only(path) if reading else sqlite3.connect(path, **_OPTIONS)
            tables = self._tables()
            if tables and "version" not in dict(self._db.execute("SELECT * FROM meta") if "meta" in tables else ()):
                raise FormatError("no recording: a database of something else", path=str(path))
            if not reading:
                self._prepare()
            found = self.meta("version") if tables or not reading else "none"
            if found == str(VERSION):
                self._check(self._tables())
        except sqlite3.OperationalError as error:
            raise SourceUnavailable(f"can't open {path}: {error}") from error
        except (sqlite3.Error, ValueError) as error:
            raise FormatError(f"no recording: {error}", path=str(path)) from error
        if found != str(VERSION):
            raise FormatError(
                f"a recording of version {found}; this svcpath reads {VERSION}: record the drain again", path=str(path)
            )

    def _prepare(self) -> None:
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._transaction():
            for statement in _TABLES.split(";"):
                if statement.strip():
                    self._db.execute(statement)
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),))

    def _tables(self) -> set[str]:
        return {str(name) for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _check(self, tables: set[str]) -> None:
        """Raises FormatError where the file has no table or column of this version."""
        for name, body in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\);", _TABLES, re.DOTALL):
            columns = (
                {str(row[1]) for row in self._db.execute(f"PRAGMA table_info({name})")} if name in tables else set()
            )
            wanted = set(re.findall(r"(?:^|,)\s*([a-z_]+) (?:TEXT|REAL|INTEGER|BLOB)", body))
            if wanted - columns:
                missing = ", ".join(sorted(wanted - columns))
                raise FormatError(f"no recording: table {name} has no {missing}", path=str(self._path))

    # --- writing --------------------------------------------------------------------------------------------------

    def begin(self, skew: float | None) -> None:
        """A new session: the monotonic clock starts again. ``skew`` is API time minus local time, if it was measured."""
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO sessions (wall, mono, skew) VALUES (?, ?, ?)", (time.time(), time.monotonic(), skew)
            )
            self.session = cursor.lastrowid or 0

    def end(self) -> None:
        with self._transaction():
            self._db.execute("UPDATE sessions SET ended = ? WHERE id = ?", (time.time(), self.session))

    def add(self, changes: Sequence[ObjectState], resource: str, position: str | None) -> int:
        """Keep changes and move the watch's position, in one transaction. Returns how many were new."""
        with self._transaction():
            new = 0
            for change in changes:
                cursor = self._db.execute(
                    "INSERT OR IGNORE INTO events (resource, uid, name, version, type, wall, mono, session, body, gone) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        change.resource,
                        change.uid,
                        change.name,
                        change.version,
                        change.type,
                        change.wall,
                        change.mono,
                        self.session,
                        change.body,
                        change.type in ("DELETED", "VANISHED"),
                    ),
                )
                new += cursor.rowcount
            if position is not None:
                self._db.execute("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", (resource, position, time.time()))
            return new

    def relisted(self, changes: Sequence[ObjectState], resource: str, position: str, gap: WatchGap | None) -> None:
        """What a list gave after a watch could not go on, with the gap it leaves."""
        with self._transaction():
            self.add(changes, resource, position)
            if gap is not None:
                self._db.execute("INSERT INTO gaps VALUES (?, ?, ?, ?)", (gap.resource, gap.since, gap.until, gap.why))

    def add_connections(self, source: str, rows: Iterable[tuple[int, SampledConnection]]) -> None:
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO connections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        source,
                        number,
                        row.kind,
                        row.due,
                        row.start,
                        row.connected,
                        row.first_byte,
                        row.end,
                        row.peer,
                        row.outcome,
                        row.status,
                        row.detail,
                    )
                    for number, row in rows
                ),
            )

    def add_planes(self, changes: Iterable[PlaneChange]) -> None:
        with self._transaction():
            self._db.executemany(
                "INSERT INTO planes VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (change.node, change.at, change.after, change.frontend, change.backend, change.present)
                    for change in changes
                ),
            )

    def remark(self, kind: str, text: str, at: float | None = None) -> None:
        with self._transaction():
            self._db.execute("INSERT INTO remarks VALUES (?, ?, ?)", (time.time() if at is None else at, kind, text))

    def set_meta(self, key: str, value: str) -> None:
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    # --- reading --------------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def position(self, resource: str) -> str | None:
        row = self._db.execute("SELECT version FROM positions WHERE resource = ?", (resource,)).fetchone()
        return str(row[0]) if row else None

    def reached(self, resource: str) -> float:
        """When the position was last moved; 0 before."""
        row = self._db.execute("SELECT wall FROM positions WHERE resource = ?", (resource,)).fetchone()
        return float(row[0]) if row else 0.0

    def alive(self, resource: str) -> dict[str, tuple[str, str]]:
        """uid -> (name, version) of the objects whose last recorded state is not their end."""
        found: dict[str, tuple[str, str]] = {}
        rows = self._db.execute(
            "SELECT uid, name, version, gone FROM events WHERE resource = ? ORDER BY id", (resource,)
        )
        for uid, name, version, gone in rows:
            if gone:
                found.pop(uid, None)
            else:
                found[uid] = (name, version)
        return found

    def changes(self) -> Iterator[ObjectState]:
        rows = self._db.execute("SELECT resource, uid, name, version, type, wall, mono, body FROM events ORDER BY id")
        for row in rows:
            yield ObjectState(*row)

    def gaps(self) -> tuple[WatchGap, ...]:
        return tuple(
            WatchGap(*row) for row in self._db.execute("SELECT resource, since, until, why FROM gaps ORDER BY since")
        )

    def connections(self) -> tuple[SampledConnection, ...]:
        rows = self._db.execute(
            "SELECT kind, due, start, connected, first_byte, end, peer, outcome, status, detail FROM connections ORDER BY start"
        )
        return tuple(SampledConnection(*row) for row in rows)

    def planes(self) -> tuple[PlaneChange, ...]:
        rows = self._db.execute("SELECT at, after, node, frontend, backend, present FROM planes ORDER BY at")
        return tuple(
            PlaneChange(at, after, node, front, back, bool(there)) for at, after, node, front, back, there in rows
        )

    def remarks(self) -> tuple[Remark, ...]:
        return tuple(Remark(at, kind, text) for at, kind, text in self._db.execute("SELECT * FROM remarks ORDER BY at"))

    def sessions(self) -> tuple[tuple[float, float | None, float | None], ...]:
        """(start, end, skew) of each session; no end: it was killed."""
        return tuple(self._db.execute("SELECT wall, ended, skew FROM sessions ORDER BY id"))

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db, self._lock)


class _Transaction:
    """BEGIN IMMEDIATE to COMMIT, under the store's lock; nested ones join the outer."""

    def __init__(self, db: sqlite3.Connection, lock: threading.RLock) -> None:
        self._db = db
        self._lock = lock
        self._outer = False

    def __enter__(self) -> None:
        self._lock.acquire()
        self._outer = not self._db.in_transaction
        if self._outer:
            self._db.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._outer:
                self._db.execute("COMMIT" if kind is None else "ROLLBACK")
        finally:
            self._lock.release()
