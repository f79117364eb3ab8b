// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tree/confine_child.hpp"

namespace schedmate::tree {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

constexpr auto denied = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO) | EPERM;

sock_filter statement(unsigned code, std::uint32_t operand) {
  return {static_cast<std::uint16_t>(code), 0, 0, operand};
}
/// Skips `over` instructions unless the loaded word equals `operand`.
sock_filter unless_equal(std::uint32_t operand, std::uint8_t over) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, over, operand};
}

/// Calls that reach beyond the process: network, programs, other processes, rights, the file
/// system's content. Opening for reading stays.
constexpr std::initializer_list<long> forbidden = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_kill,
    SYS_ioctl,
    SYS_clone,
    SYS_tkill,
    SYS_clone3,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_fchmodat,
    SYS_fchmod,
    SYS_fchownat,
    SYS_fchown,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_utimensat,
    SYS_bpf,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_memfd_create,
    SYS_init_module,
    SYS_finit_module,
    SYS_open_by_handle_at,
    SYS_shmget,
    SYS_shmat,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_inotify_init1,
    SYS_fanotify_init,
    SYS_quotactl,
    SYS_swapon,
    SYS_reboot,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_unlink,
    SYS_rename,
    SYS_renameat,
    SYS_link,
    SYS_symlink,
    SYS_mkdir,
    SYS_rmdir,
    SYS_mknod,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_creat,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_inotify_init,
#elif defined(__aarch64__)
    SYS_renameat,
#endif
};

constexpr std::uint32_t argument(int index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                    sizeof(std::uint64_t) * static_cast<std::size_t>(index));
}

using Program = std::vector<sock_filter>;

/// Opening with any flag that may change something is denied; the call's number is loaded.
void deny_writing(Program& program, long call, int flags_at) {
  constexpr std::uint32_t changing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  program.push_back(unless_equal(static_cast<std::uint32_t>(call), 4));
  program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, argument(flags_at)));
  program.push_back({BPF_JMP | BPF_JSET | BPF_K, 0, 1, changing});
  program.push_back(statement(BPF_RET | BPF_K, denied));
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

/// The call is allowed only with this first argument.
void bind_first(Program& program, long call, std::uint32_t value) {
  program.push_back(unless_equal(static_cast<std::uint32_t>(call), 4));
  program.push_back(statement(BPF_LD | BPF_W | BPF_ABS, argument(0)));
  program.push_back(unless_equal(value, 1));
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  program.push_back(statement(BPF_RET | BPF_K, denied));
}

Program filter_program(bool allow_openat2) {
  Program program = {
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, architecture},
      statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
#if defined(__x86_64__)
  // Calls of the x32 interface have other numbers.
  constexpr std::uint32_t x32_bit = 0x40000000;
  program.push_back({BPF_JMP | BPF_JGE | BPF_K, 0, 1, x32_bit});
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  deny_writing(program, SYS_open, 1);
#endif
  deny_writing(program, SYS_openat, 2);
  bind_first(program, SYS_tgkill, static_cast<std::uint32_t>(::getpid()));  // abort() needs it
  bind_first(program, SYS_prlimit64, 0);
  if (!allow_openat2) {
    program.push_back(unless_equal(SYS_openat2, 1));
    program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  for (const long call : forbidden) {
    program.push_back(unless_equal(static_cast<std::uint32_t>(call), 1));
    program.push_back(statement(BPF_RET | BPF_K, denied));
  }
  program.push_back(statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return program;
}

}  // namespace

bool install_filter(bool allow_openat2) {
  if (architecture == 0) return false;
  Program program = filter_program(allow_openat2);
  const sock_fprog loaded{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &loaded, 0, 0) == 0;
}

}  // namespace schedmate::tree
