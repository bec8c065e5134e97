"""Which features formatting finalises."""

from __future__ import annotations

import pytest

from pykbroker.kraft.format_features import formatted_features, parse_feature_levels
from pykbroker.kraft.storage_format import StorageError

ELIGIBLE = "eligible.leader.replicas.version"
TRANSACTION = "transaction.version"


def level_of(release: str) -> int:
    return formatted_features(release, {}, has_dynamic_quorum=True)["metadata.version"]


# MetadataVersion.java: a release is its last production version.
@pytest.mark.parametrize(
    ("release", "level"),
    [
        ("3.3", 7), ("3.4", 8), ("3.5", 11), ("3.6", 14), ("3.7", 19), ("3.8", 20), ("3.9", 21),
        ("4.0", 25), ("4.1", 27), ("4.2", 29), ("4.3", 30), ("4.4", 33),
        ("3.9.0", 21), ("3.9.2", 21), ("3.8.x", 20), ("4.4.0", 33),
        ("3.3-IV3", 7), ("3.7-IV2", 17), ("4.0-IV0", 22), ("4.4-IV2", 33),
    ],
)  # fmt: skip
def test_releases_and_versions(release: str, level: int) -> None:
    assert level_of(release) == level


@pytest.mark.parametrize("release", ["3.2", "3.3-IV2", "4.5", "4.4-IV3", "4", "", "x", "IV2"])
def test_unknown_releases(release: str) -> None:
    with pytest.raises(StorageError) as caught:
        level_of(release)
    start, _, versions = str(caught.value).partition(" Supported metadata.version are: ")
    assert start == f"Unknown metadata.version '{release}'."
    names = versions.split(", ")
    assert (names[0], names[-1], len(names)) == ("3.3-IV3", "4.4-IV2", 27)
    assert [level_of(name) for name in names] == list(range(7, 34))


@pytest.mark.parametrize(
    ("dynamic", "levels", "expected"),
    [
        (True, {}, (33, 1, 1, 2)),
        (False, {}, (33, 0, 1, 2)),
        (True, {"metadata.version": 14}, (14, 1, 0, 0)),
        (True, {"metadata.version": 25}, (25, 1, 0, 2)),  # could have the former
        (True, {"metadata.version": 26}, (26, 1, 1, 2)),
        (True, {"metadata.version": 23, ELIGIBLE: 1}, (23, 1, 1, 0)),
        (True, {ELIGIBLE: 0, TRANSACTION: 1}, (33, 1, 0, 1)),
        (True, {"kraft.version": 1, "group.version": 0}, (33, 1, 1, 2)),
        (False, {"kraft.version": 0}, (33, 0, 1, 2)),
    ],
)
def test_levels(dynamic: bool, levels: dict[str, int], expected: tuple[int, ...]) -> None:
    features = formatted_features(None, levels, has_dynamic_quorum=dynamic)
    names = ("metadata.version", "kraft.version", ELIGIBLE, TRANSACTION)
    assert features == dict(zip(names, expected, strict=True))


@pytest.mark.parametrize(
    ("dynamic", "release", "levels", "message"),
    [
        (True, "3.9", {"metadata.version": 21}, "Use --release-version instead"),
        (True, None, {"metadata.version": 6}, "No MetadataVersion with feature level 6"),
        (True, None, {"metadata.version": 34}, "No MetadataVersion with feature level 34"),
        (True, None, {"kraft.version": 2}, "No feature:kraft.version with feature level 2"),
        (True, None, {"kraft.version": 0}, "Cannot set kraft.version to 0"),
        (False, None, {"kraft.version": 1}, "Cannot set kraft.version to 1"),
        (True, None, {"nope": 0}, "Unsupported feature: nope. Supported features are: eligible"),
        (True, None, {"group.version": 1}, "group.version is not supported by this version"),
        (True, None, {TRANSACTION: 3}, f"No feature:{TRANSACTION} with feature level 3"),
        (True, None, {ELIGIBLE: 2}, f"No feature:{ELIGIBLE} with feature level 2"),
        (
            True,
            "4.0-IV0",
            {ELIGIBLE: 1},
            f"{ELIGIBLE} could not be set to 1 because it depends on metadata.version level 23",
        ),
    ],
)
def test_refusals(dynamic: bool, release: str | None, levels: dict[str, int], message: str) -> None:
    with pytest.raises(StorageError) as caught:
        formatted_features(release, levels, has_dynamic_quorum=dynamic)
    assert str(caught.value).startswith(message)


def test_texts() -> None:
    assert parse_feature_levels(["a=1", " b = 2", "a=3"]) == {"a": 3, "b": 2}
    for text, reason in [
        ("a", "equals sign not found"),
        ("a=", "unable to parse  as a short"),
        ("a=x", "unable to parse x as a short"),
        ("a=-1", "unable to parse -1 as a short"),
        ("a=32768", "unable to parse 32768 as a short"),
    ]:
        with pytest.raises(
            StorageError, match=f"^Can't parse feature=level string {text}: {reason}"
        ):
            parse_feature_levels([text])
