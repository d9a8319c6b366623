"""Assembles the seccomp filter of the ``landlock`` level: what Landlock itself cannot refuse.

Pure data to bytes: which system calls are refused, and the classic BPF program that refuses them.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass
from typing import Final

_AF_UNIX: Final = 1
_AF_INET: Final = 2
_AF_INET6: Final = 10
_AF_NETLINK: Final = 16
_STREAM: Final = 1
_SEQPACKET: Final = 5
_TYPE_MASK: Final = 0xF  # the rest of a socket's type are flags
_MSG_FASTOPEN: Final = 0x20000000  # connects without connect()
_NEW_NAMESPACES: Final = 0x7E020080
_TIOCSTI: Final = 0x5412
_TIOCLINUX: Final = 0x541C
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4  # 0 would hide open files from the watcher
_NEWEST_KNOWN: Final = 462
"""Higher numbers are calls that this list has not judged: they do not exist in the kernel."""

_WHOLE: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class Argument:
    """A condition on the low 32 bits of one argument.

    Attributes:
        index: 0 to 5.
        values: what it is compared with.
        mask: the bits that count.
        listed: whether the condition holds for the values, or for all others.
    """

    index: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    listed: bool = True


@dataclass(frozen=True)
class Rule:
    """A system call that is refused where all conditions hold; error 0: it only seems to work."""

    call: str
    when: tuple[Argument, ...] = ()
    error: int = errno.EPERM


NUMBERS: Final[dict[str, tuple[int | None, int | None]]] = {
    # name: (x86_64, aarch64)
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "connect": (42, 203),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, None),
    "lookup_dcookie": (212, 18),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semget": (64, 190),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "sendto": (44, 206),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vhangup": (153, 58),
}

_PROCESSES = (
    "kcmp migrate_pages move_pages perf_event_open pidfd_getfd process_madvise process_mrelease "
    "process_vm_readv process_vm_writev ptrace"
)
_MACHINE = (
    "acct adjtimex bpf clock_adjtime clock_settime delete_module finit_module init_module ioperm "
    "iopl kexec_file_load kexec_load lookup_dcookie modify_ldt personality quotactl quotactl_fd "
    "reboot setdomainname sethostname settimeofday swapoff swapon syslog userfaultfd vhangup"
)
_MOUNTS = (
    "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_by_handle_at "
    "name_to_handle_at open_tree pivot_root setns umount2 unshare"
)
# io_uring opens sockets and connects past any filter.
_DOORS = "add_key connect io_uring_enter io_uring_register io_uring_setup keyctl request_key"
# Memory that no address space limit counts, or that stays when its makers are gone.
_MEMORY = "memfd_create memfd_secret mq_open msgget semget shmget"
# What Landlock lets anybody do to files it does not let them open.
_METADATA = (
    "chown fanotify_init fchown fchownat fremovexattr fsetxattr inotify_init inotify_init1 lchown "
    "lremovexattr lsetxattr removexattr setxattr"
)
# The same, but shutil.copy and its like could not be used if these failed: they do nothing.
_WITHOUT_EFFECT: Final = [
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "futimesat",
    "utime",
    "utimensat",
    "utimes",
]
_ALWAYS: Final = " ".join((_PROCESSES, _MACHINE, _MOUNTS, _DOORS, _MEMORY, _METADATA)).split()

_OWN: Final = (0,)
"""As a process id: the caller itself."""


def rules(*, own_network: bool, truncate: bool) -> list[Rule]:
    """What is refused.

    Args:
        own_network: whether the kernel has a network namespace of its own.
        truncate: whether Landlock handles ``truncate`` (ABI 3 and later).

    Returns:
        Rules; a call that none of them refuses is allowed.
    """
    others = Argument(0, _OWN, listed=False)
    found = [
        Rule("clone", (Argument(0, (0,), mask=_NEW_NAMESPACES, listed=False),)),
        # Its flags lie in memory; the C library falls back on clone.
        Rule("clone3", error=errno.ENOSYS),
        Rule("ioctl", (Argument(1, (_TIOCSTI, _TIOCLINUX)),)),
        Rule("prctl", (Argument(0, (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE)),)),
        Rule("ioprio_set", (Argument(1, _OWN, listed=False),)),
        Rule("setpriority", (Argument(1, _OWN, listed=False),)),
        Rule("setpriority", (Argument(0, (0,), listed=False),)),
    ]
    found.append(Rule("prlimit64", (others,)))
    # Threads are named by number like processes; libzmq aborts where it cannot schedule its own.
    calls = ["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"]
    found += [Rule(call, (others,), error=0) for call in calls]
    found += _socket_rules(own_network)
    if not truncate:
        found.append(Rule("truncate"))
    found += [Rule(call, error=0) for call in _WITHOUT_EFFECT]
    return found + [Rule(call) for call in _ALWAYS]


def _socket_rules(own_network: bool) -> list[Rule]:
    fast_open = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
    found = [
        Rule(call, (Argument(flags, (0,), mask=_MSG_FASTOPEN, listed=False),))
        for call, flags in fast_open.items()
    ]
    # A datagram socket reaches any other by address, without connect().
    linked = Argument(1, (_STREAM, _SEQPACKET), mask=_TYPE_MASK, listed=False)
    known = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)
    found += [
        Rule("socketpair", (linked,)),
        Rule("socket", (Argument(0, (_AF_UNIX,)), linked)),
        Rule("socket", (Argument(0, known, listed=False),)),
        # libzmq asks the routing family for the interfaces and aborts without.
        Rule("socket", (Argument(0, (_AF_NETLINK,)), Argument(2, (0,), listed=False))),
    ]
    if not own_network:
        internet = Argument(0, (_AF_INET, _AF_INET6))
        stream = Argument(1, (_STREAM,), mask=_TYPE_MASK, listed=False)
        tcp = Argument(2, (0, 6), listed=False)  # Landlock does not see MPTCP and SCTP
        found += [Rule("socket", (internet, stream)), Rule("socket", (internet, tcp))]
    return found


# Classic BPF.

_LOAD = 0x20  # A = 32 bits of seccomp_data at k
_AND = 0x54
_EQUAL = 0x15
_AT_LEAST = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NUMBER_AT = 0
_ARCH_AT = 4
_ARGUMENTS_AT = 16  # 8 bytes each, low half first

ARCHITECTURES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""By machine name: its audit number, and its column in ``NUMBERS``."""


def program(machine: str, refused: list[Rule]) -> bytes:
    """Assemble a filter.

    Args:
        machine: a key of ``ARCHITECTURES``.
        refused: the rules, the first that holds counting.

    Returns:
        ``struct sock_filter`` after ``struct sock_filter``, 8 bytes each.
    """
    audit, column = ARCHITECTURES[machine]
    no_such_call = _ERRNO | errno.ENOSYS
    code = [
        _step(_LOAD, _ARCH_AT),
        _step(_EQUAL, audit, 1, 0),
        _step(_RETURN, no_such_call),  # the calls of another architecture (int 0x80)
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _NEWEST_KNOWN + 1, 0, 1),  # and those of x32
        _step(_RETURN, no_such_call),
    ]
    for rule in refused:
        number = NUMBERS[rule.call][column]
        if number is not None:
            code += _assemble(number, rule)
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _assemble(number: int, rule: Rule) -> list[bytes]:
    """One rule, with the call's number in the accumulator before and after it."""
    body: list[bytes] = [_step(_RETURN, _ERRNO | rule.error)]
    if rule.when:
        body.append(_step(_LOAD, _NUMBER_AT))
    for condition in reversed(rule.when):
        body = _condition(condition, len(body) - 1) + body
    return [_step(_EQUAL, number, 0, len(body)), *body]


def _condition(condition: Argument, ahead: int) -> list[bytes]:
    """Steps that go on where the condition holds, and else pass over ``ahead`` steps more."""
    steps = [_step(_LOAD, _ARGUMENTS_AT + 8 * condition.index)]
    if condition.mask != _WHOLE:
        steps.append(_step(_AND, condition.mask))
    last = len(condition.values) - 1
    for place, value in enumerate(condition.values):
        left = last - place
        if condition.listed:
            steps.append(_step(_EQUAL, value, left, 0 if left else ahead))
        else:
            steps.append(_step(_EQUAL, value, left + ahead, 0))
    return steps


def _step(code: int, k: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, k)
