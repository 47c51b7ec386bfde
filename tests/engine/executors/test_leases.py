"""Leases: small, to the host with most room, given out again when a host is lost, given up after several losses."""

from __future__ import annotations

from nel.engine.executors.leases import FIRST, MOST, Leases


def _with(n: int, *hosts: str, attempts_max: int = 3) -> Leases:
    leases = Leases(attempts_max=attempts_max)
    for host in hosts:
        leases.join(host)
    for number in range(n):
        leases.put(number)
    return leases


def test_items_are_shared_between_hosts_in_small_leases() -> None:
    """Two hosts of which nothing is known get the same few items each; the others wait."""
    leases = _with(100, "a", "b")
    given = leases.assign()
    assert sorted(map(len, given.values())) == [FIRST, FIRST]
    assert sorted(number for numbers in given.values() for number in numbers) == list(range(2 * FIRST))
    assert leases.assign() == {}


def test_a_fast_host_gets_larger_leases_and_a_slow_one_smaller() -> None:
    """The number in flight follows the time from lease to result, within its bounds."""
    leases = _with(20_000, "fast", "slow")
    n_in_flight = {"fast": 0, "slow": 0}
    for _ in range(60):
        for host, numbers in leases.assign().items():
            n_in_flight[host] = len(numbers)
            assert all(leases.finish(host, number) for number in numbers)
            leases.adapt(host, 0.01 if host == "fast" else 5.0, is_dry=True)
    assert n_in_flight == {"fast": MOST, "slow": 2}


def test_what_waits_for_the_run_takes_no_room() -> None:
    """A host whose items all ask a judge gets more; an item that goes on counts again."""
    leases = _with(100, "a")
    (first,) = leases.assign().values()
    for number in first:
        leases.set_asking("a", number, is_asking=True)
    (more,) = leases.assign().values()
    assert len(more) == FIRST
    leases.set_asking("a", first[0], is_asking=False)
    assert leases.finish("a", more[0])
    assert leases.assign() == {}


def test_a_lost_host_loses_no_item_and_its_late_results_count_nowhere() -> None:
    """Each of its items goes to one other host, before those that wait."""
    leases = _with(10, "a")
    (first,) = leases.assign().values()
    again, given_up = leases.lose("a")
    assert (again, given_up) == (first, [])
    assert not leases.finish("a", first[0])
    leases.join("b")
    assert leases.assign() == {"b": [first[0], 4, 5, 6]}
    assert leases.finish("b", first[0])
    assert not leases.finish("b", first[0])
    assert leases.assign() == {"b": [first[1]]}


def test_an_item_that_takes_hosts_down_is_given_up() -> None:
    """After so many losses it is not leased again; an item that was finished between counts from none."""
    leases = _with(1, attempts_max=3)
    for host in ("a", "b"):
        leases.join(host)
        assert leases.assign() == {host: [0]}
        assert leases.lose(host) == ([0], [])
    leases.join("c")
    leases.assign()
    assert leases.lose("c") == ([], [0])
    leases.join("d")
    assert leases.assign() == {}
