/* System calls that Landlock does not see: metadata changes and sockets in a read verdict, io_uring and foreign ABIs always. */
#include "runner.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the system call filter knows x86_64 and aarch64"
#endif

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#define SYS_io_uring_register 427
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif

/* io_uring does reads, writes and metadata changes without one of the system calls that a filter could see. */
static const int always[] = {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

static const int read_only[] = {
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    SYS_fchmod,       SYS_fchmodat,      SYS_fchmodat2, SYS_fchown,    SYS_fchownat,    SYS_utimensat,
    SYS_setxattr,     SYS_lsetxattr,     SYS_fsetxattr, SYS_setxattrat, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, SYS_removexattrat, SYS_socket,
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

int seccomp_confine(enum seccomp_level level) {
  struct sock_filter filter[16 + 2 * (COUNT(always) + COUNT(read_only))];
  unsigned short length = 0;
#define EMIT(...) filter[length++] = (struct sock_filter)__VA_ARGS__
  EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
  EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
  EMIT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  EMIT(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
#if defined(__x86_64__)
  /* The x32 ABI has the same arch and other numbers: every list below would miss it. */
  EMIT(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  EMIT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
#endif
  for (size_t i = 0; i < COUNT(always); i++) {
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)always[i], 0, 1));
    EMIT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  }
  for (size_t i = 0; level == SECCOMP_READ_ONLY && i < COUNT(read_only); i++) {
    EMIT(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)read_only[i], 0, 1));
    EMIT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  EMIT(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef EMIT
  struct sock_fprog program = {.len = length, .filter = filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
