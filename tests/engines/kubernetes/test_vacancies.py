"""Jobs that wait for another pod, against a list of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes.vacancies import Vacancies, Vacancy
from fairhold.ports.governor import Family

A, B = ("j1", ""), ("j1", "0")


def test_a_pod_may_come_before_the_other_is_gone() -> None:
    vacancies = Vacancies()
    assert vacancies.fill(A) is None
    vacancies.open(A, ("x", 0))
    vacancies.open(A, ("x", 0))
    assert vacancies.fill(B) is None
    assert vacancies.fill(A) == Vacancy(("x", 0), 0, is_held=False)
    assert vacancies.fill(A) is None
    vacancies.await_until(A, ("x", 0), 5)  # its pod has come already
    assert list(vacancies.given_up(9)) == []


def test_who_waits_longest_is_served_first() -> None:
    vacancies = Vacancies()
    for job in ("x", "y", "z"):
        vacancies.open(A, (job, 0))
    vacancies.await_until(A, ("y", 0), 5)
    vacancies.drop("x")
    assert vacancies.fill(A) == Vacancy(("y", 0), 5, is_held=True)
    assert vacancies.fill(A) == Vacancy(("z", 0))


def test_a_task_is_given_up_when_its_time_is_over() -> None:
    vacancies = Vacancies()
    for job, until in (("x", 5), ("y", 7), ("z", 0)):
        vacancies.open(A, (job, 0))
        if until:
            vacancies.await_until(A, (job, 0), until)
    assert list(vacancies.given_up(4)) == []
    assert list(vacancies.given_up(5)) == [("x", 0)]
    assert list(vacancies.given_up(100)) == [("y", 0)]
    assert vacancies.fill(A) == Vacancy(("z", 0))


steps = st.lists(
    st.tuples(
        st.sampled_from(["open", "await", "fill", "drop", "give up"]),
        st.sampled_from([A, B]),
        st.sampled_from(["x", "y", "z"]),
        st.integers(1, 9),
    ),
    max_size=30,
)


@given(steps)
def test_they_are_a_list_in_order(todo: list[tuple[str, Family, str, int]]) -> None:
    vacancies, waiting = Vacancies(), list[tuple[Family, str, int]]()
    for what, family, job, at in todo:
        here = next((each for each in waiting if each[:2] == (family, job)), None)
        if what == "open":
            vacancies.open(family, (job, 0))
            waiting += [(family, job, 0)] if here is None else []
        elif what == "await":
            vacancies.await_until(family, (job, 0), at)
            if here is not None:
                waiting[waiting.index(here)] = (family, job, at)
        elif what == "fill":
            first = next((each for each in waiting if each[0] == family), None)
            found = vacancies.fill(family)
            assert (found and (found.seat[0], found.until, found.is_held)) == (
                first and (first[1], first[2], bool(first[2]))
            )
            waiting = [each for each in waiting if each is not first]
        elif what == "drop":
            vacancies.drop(job)
            waiting = [each for each in waiting if each[1] != job]
        else:
            late = {each[1] for each in waiting if 0 < each[2] <= at}
            assert {job for job, _ in vacancies.given_up(at)} == late
            waiting = [each for each in waiting if each[1] not in late]
