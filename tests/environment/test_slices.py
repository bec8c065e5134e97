"""Jobs in a world in which computing takes no time."""

from __future__ import annotations

from pykbroker.environment.slices import FEW, InOneGo, paced


def test_a_job_is_done_when_run_returns() -> None:
    slices = InOneGo()

    def job() -> int:
        slices.breathe()
        return 7

    deferred = slices.run("job", job)
    assert (deferred.done, deferred.value) == (True, 7)
    slices.close()


def test_what_a_job_raises_is_its_outcome() -> None:
    failure = ValueError("no")

    def job() -> None:
        raise failure

    assert InOneGo().run("job", job).value is failure


def test_a_list_of_a_few_needs_no_breath() -> None:
    breaths: list[int] = []

    def breathe() -> None:
        breaths.append(len(breaths))

    few = [*range(FEW)]
    assert [*paced(few, breathe)] == few
    assert not breaths
    many = [*range(FEW + 1)]
    assert [*paced(many, breathe)] == many
    assert len(breaths) == FEW + 1
    assert [*paced(iter(few), breathe)] == few
    assert len(breaths) == 2 * FEW + 1


def test_what_is_apart_is_done_when_it_returns() -> None:
    slices = InOneGo()
    done: list[int] = []
    slices.apart(lambda: done.append(1))
    assert done == [1]
