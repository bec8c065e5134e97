from __future__ import annotations

import pytest

from pykbroker.broker.monitoring.families import Families, render


def test_the_text_for_prometheus() -> None:
    families = Families()
    families.counter("a_total", "Counted.", "topic").add(3, 'with "quotes"')
    families.gauge("b", "A level.").add(2.5)
    families.untyped("c_count", "As it is.", "x").add(7, "1")
    families.histogram("d_seconds", "Times.", "unit").add((0.1, 1.0), (2, 0, 1), 5.5, "u")
    lines = render(families).decode().splitlines()
    start = lines.index("# HELP a_total Counted.")
    assert lines[start : start + 15] == [
        "# HELP a_total Counted.",
        "# TYPE a_total counter",
        'a_total{topic="with \\"quotes\\""} 3.0',
        "# HELP b A level.",
        "# TYPE b gauge",
        "b 2.5",
        "# HELP c_count As it is.",
        "# TYPE c_count untyped",
        'c_count{x="1"} 7.0',
        "# HELP d_seconds Times.",
        "# TYPE d_seconds histogram",
        'd_seconds_bucket{le="0.1",unit="u"} 2.0',
        'd_seconds_bucket{le="1.0",unit="u"} 2.0',
        'd_seconds_bucket{le="+Inf",unit="u"} 3.0',
        'd_seconds_count{unit="u"} 3.0',
    ]
    assert 'd_seconds_sum{unit="u"} 5.5' in lines
    assert any(line.startswith("process_resident_memory_bytes ") for line in lines)
    assert any(line.startswith("python_gc_collections_total{") for line in lines)


def test_a_family_is_begun_once() -> None:
    families = Families()
    first = families.gauge("a", "A level.", "x")
    assert families.gauge("a", "A level.", "x") is first
    assert families["a"] is first
    assert list(families) == [first]


def test_labels_and_values_belong_together() -> None:
    families = Families()
    families.gauge("a", "A level.", "x", "y").add(1, "only one")
    with pytest.raises(ValueError, match="shorter"):
        render(families)
