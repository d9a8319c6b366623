"""The seccomp filter as assembled, run by a small machine of its own for both architectures."""

from __future__ import annotations

import errno
import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.confinement.seccomp import ARCHITECTURES, NUMBERS, Argument, Rule, program, rules

ALLOW = 0x7FFF0000
ERRNO = 0x00050000
MACHINES = sorted(ARCHITECTURES)
PROGRAMS = {
    (machine, own, truncate): program(machine, rules(own_network=own, truncate=truncate))
    for machine, own, truncate in itertools.product(MACHINES, (True, False), (True, False))
}

some_machine = st.sampled_from(MACHINES)
argument = st.one_of(st.integers(0, 0x20), st.sampled_from([1 << 28, 1 << 29, 0x5412, 2**64 - 1]))
arguments = st.lists(argument, min_size=6, max_size=6)


def execute(code: bytes, audit: int, number: int, given: list[int]) -> int:
    """What a filter returns for a call (struct seccomp_data, little endian)."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *given)
    steps = list(struct.iter_unpack("=HBBI", code))
    at = held = 0
    while True:
        operation, if_true, if_false, k = steps[at]
        at += 1
        if operation == 0x20:
            held = struct.unpack_from("<I", data, k)[0]
        elif operation == 0x54:
            held &= k
        elif operation == 0x15:
            at += if_true if held == k else if_false
        elif operation == 0x35:
            at += if_true if held >= k else if_false
        else:
            assert operation == 0x06
            return int(k)


def expected(machine: str, refused: list[Rule], number: int, given: list[int]) -> int:
    """The same from the rules."""
    column = ARCHITECTURES[machine][1]
    for rule in refused:
        if NUMBERS[rule.call][column] == number and all(holds(c, given) for c in rule.when):
            return ERRNO | rule.error
    return ALLOW


def holds(condition: Argument, given: list[int]) -> bool:
    seen = given[condition.index] & 0xFFFFFFFF & condition.mask
    return (seen in condition.values) == condition.listed


@given(some_machine, st.booleans(), st.booleans(), st.integers(0, 462), arguments)
def test_the_program_does_what_the_rules_say(
    machine: str, own: bool, truncate: bool, number: int, given: list[int]
) -> None:
    got = execute(PROGRAMS[machine, own, truncate], ARCHITECTURES[machine][0], number, given)
    assert got == expected(machine, rules(own_network=own, truncate=truncate), number, given)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_rule_is_met_and_every_condition_counts(machine: str) -> None:
    audit, column = ARCHITECTURES[machine]
    refused = rules(own_network=False, truncate=False)
    code = program(machine, refused)
    met = set()
    values = (0, 1, 2, 3, 5, 9, 16, 40, 0x5412, 0x20000000, 0x10000000)
    for place, rule in enumerate(refused):
        number = NUMBERS[rule.call][column]
        if number is None:
            continue
        indices = sorted({condition.index for condition in rule.when})
        for chosen in itertools.product(values, repeat=len(indices)):
            given = [0] * 6
            for index, value in zip(indices, chosen, strict=True):
                given[index] = value
            assert execute(code, audit, number, given) == expected(machine, refused, number, given)
            if all(holds(condition, given) for condition in rule.when):
                met.add(place)
    assert met == {p for p, rule in enumerate(refused) if NUMBERS[rule.call][column] is not None}


@given(some_machine, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), arguments)
def test_other_tables_of_calls_do_not_exist(
    machine: str, audit: int, number: int, given: list[int]
) -> None:
    code = PROGRAMS[machine, True, True]
    own = ARCHITECTURES[machine][0]
    if audit != own:
        assert execute(code, audit, number, given) == ERRNO | errno.ENOSYS
    if number > 462:
        assert execute(code, own, number, given) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("domain", "kind", "protocol", "own", "shared"),
    [
        ("unix", 1, 0, True, True),
        ("unix", 1 | 0o2000000, 0, True, True),  # close on exec
        ("unix", 2, 0, False, False),
        ("unix", 3, 0, False, False),  # raw is another word for datagrams here
        ("inet", 1, 0, True, True),
        ("inet", 1, 6, True, True),
        ("inet", 1, 262, True, False),  # MPTCP
        ("inet", 2, 0, True, False),
        ("inet6", 2, 17, True, False),
        ("inet6", 3, 58, True, False),
        ("netlink", 3, 0, True, True),
        ("netlink", 3, 9, False, False),
        ("vsock", 1, 0, False, False),
    ],
)
def test_sockets(
    machine: str, domain: str, kind: int, protocol: int, own: bool, shared: bool
) -> None:
    audit, column = ARCHITECTURES[machine]
    number = NUMBERS["socket"][column]
    assert number is not None
    family = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16, "vsock": 40}[domain]
    for own_network, allowed in ((True, own), (False, shared)):
        code = PROGRAMS[machine, own_network, True]
        got = execute(code, audit, number, [family, kind, protocol, 0, 0, 0])
        assert got == (ALLOW if allowed else ERRNO | errno.EPERM)
