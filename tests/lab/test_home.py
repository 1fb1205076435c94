"""A lab's folder, its identity, and the guards against mixing two labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from svcpath.errors import UsageError
from svcpath_lab import home as homes
from svcpath_lab import labs
from svcpath_lab.errors import LabError
from svcpath_lab.home import LabSpec


def test_a_description_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = homes.home("one", tmp_path)
    spec = LabSpec(provider="kind", proxy_mode="nftables", nodes=2)
    place.write_spec(spec)
    assert place.read_spec() == spec
    assert homes.homes(tmp_path) == (place,)


def test_the_same_name_under_two_state_folders_is_two_identities(tmp_path: Path) -> None:
    assert homes.home("one", tmp_path / "a").identity != homes.home("one", tmp_path / "b").identity


@pytest.mark.parametrize("name", ["", "Upper", "../x", "a/b", "-x", "x-", "a" * 21])
def test_a_name_that_can_not_be_part_of_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        homes.home(name, tmp_path)


def test_a_lab_that_is_not_there_or_damaged_says_what_to_do(tmp_path: Path) -> None:
    place = homes.home("one", tmp_path)
    with pytest.raises(LabError, match="svcpath lab up --lab one"):
        place.read_spec()
    place.folder.mkdir()
    place.spec_file.write_text("{")
    with pytest.raises(LabError, match="svcpath lab down --lab one"):
        place.read_spec()


def test_two_at_once_on_one_lab_is_an_error(tmp_path: Path) -> None:
    place = homes.home("one", tmp_path)
    with place.locked(), pytest.raises(LabError, match="another svcpath"), place.locked():
        raise AssertionError("held twice")


def test_up_with_another_shape_under_the_same_name_is_refused(tmp_path: Path) -> None:
    place = homes.home("one", tmp_path)
    place.write_spec(LabSpec(provider="kind", nodes=3))
    with pytest.raises(UsageError, match="differs"):
        labs.bring_up(place, LabSpec(provider="kind", nodes=2), lambda line: None)


def test_an_unknown_provider_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="netns, kind, context"):
        labs.provider(homes.home("one", tmp_path), LabSpec(provider="cloud"))


@pytest.mark.parametrize(
    "spec", [LabSpec(provider="kind", nodes=3, proxy_mode="ipvs"), LabSpec(provider="kind", ip_family="x")]
)
def test_what_can_not_be_brought_up_leaves_no_folder(tmp_path: Path, spec: LabSpec) -> None:
    place = homes.home("one", tmp_path / "state")
    with pytest.raises(UsageError):
        labs.bring_up(place, spec, lambda line: None)
    assert not place.folder.exists()
    assert list(place.folder.parent.iterdir()) == []
