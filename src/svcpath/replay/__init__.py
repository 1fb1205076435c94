"""Recorded runs of real resolvers, played to the models again: `svcpath resolve --replay`.

``runs`` reads the rows, plays each and compares; ``probes`` says which model a row is for; ``queries`` says when the
queries of a model are those that a server logged; ``scripted`` is the server that answered in the recordings, and
``setups`` what surrounded its special cases.
The models know nothing of it: it stands above them, and touches no file itself.
"""

from svcpath.replay.runs import RecordedRun, ReplayVerdict, Summary, read_rows, replay

__all__ = ["RecordedRun", "ReplayVerdict", "Summary", "read_rows", "replay"]
