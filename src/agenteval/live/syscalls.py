"""The system calls that a sandbox refuses, as a seccomp filter: the kernel runs it before each call.

Refused is what reaches beyond the sandbox although no file and no network does: namespaces and mounts, in which a
process without rights gets some; the keyrings of the user; other kinds of sockets than those of files and the
internet, of which some know no network namespace (`AF_VSOCK` leads to the host of a virtual machine); and parts of the
kernel that no agent needs.
"""

import platform
import struct

_NUMBERS = {
    "x86_64": {
        "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "keyctl": 250,
        "add_key": 248, "request_key": 249, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "kexec_load": 246,
        "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176, "reboot": 169,
        "swapon": 167, "swapoff": 168, "acct": 163, "quotactl": 179, "open_by_handle_at": 304, "syslog": 103,
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "clone": 56, "socket": 41, "shmget": 29,
    },
    "aarch64": {
        "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "keyctl": 219,
        "add_key": 217, "request_key": 218, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "kexec_load": 104,
        "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106, "reboot": 142,
        "swapon": 224, "swapoff": 225, "acct": 89, "quotactl": 60, "open_by_handle_at": 265, "syslog": 116,
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "clone": 220, "socket": 198, "shmget": 194,
    },
}  # fmt: skip
_EVERYWHERE = {
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "quotactl_fd": 443, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "memfd_secret": 447, "clone3": 435,
}  # fmt: skip
"""Newer calls have the same number on every machine."""
_AUDITED = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The names that the kernel has for these machines; calls for another (32-bit programs) are refused."""
_X32 = 0x40000000
"""From here on the numbers on x86_64 are those of a second set of the same calls."""
_NAMESPACES = 0x7E020000
"""The flags of `clone` that make a namespace."""
_FAMILIES = (1, 2, 10, 16)
"""The sockets that are allowed: of files, of the internet (4 and 6), and netlink, which lists network interfaces."""
_SHARED_BYTES = 2**20
"""Shared memory of System V stays when nobody uses it, and then no process shows it: 4096 pieces are no more than this allows."""
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_LOAD, _EQUAL, _AT_LEAST, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x25, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""The offsets of the values that the filter looks at."""


def refused_calls() -> bytes | None:
    """The filter for this machine, as `bwrap --seccomp` reads it; None for a machine that is not known."""
    machine = platform.machine()
    if machine not in _NUMBERS:
        return None
    numbers = {**_NUMBERS[machine], **_EVERYWHERE}
    clone, clone3, socket, shmget = (numbers.pop(each) for each in ("clone", "clone3", "socket", "shmget"))
    program = [
        (_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, _AUDITED[machine]), (_RETURN, 0, 0, _FAIL | _EPERM),
        (_LOAD, 0, 0, _NUMBER),
        *((_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _FAIL | _ENOSYS)) * (machine == "x86_64"),
        # its flags are in memory, where no filter sees them: programs fall back on clone
        (_EQUAL, 0, 1, clone3), (_RETURN, 0, 0, _FAIL | _ENOSYS),
    ]  # fmt: skip
    for number in numbers.values():
        program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _FAIL | _EPERM)]
    program += [
        (_EQUAL, 0, 4, clone), (_LOAD, 0, 0, _ARGUMENTS), (_ANY_BIT, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, _FAIL | _EPERM), (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, 6, shmget), (_LOAD, 0, 0, _ARGUMENTS + 12), (_ABOVE, 2, 0, 0), (_LOAD, 0, 0, _ARGUMENTS + 8),
        (_ABOVE, 0, 1, _SHARED_BYTES), (_RETURN, 0, 0, _FAIL | _EPERM), (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, len(_FAMILIES) + 2, socket), (_LOAD, 0, 0, _ARGUMENTS),
        *((_EQUAL, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)),
        (_RETURN, 0, 0, _FAIL | _EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    return b"".join(struct.pack("=HBBI", *each) for each in program)
