/* System calls that Landlock does not see: metadata changes and sockets where the verdict has none, io_uring and foreign ABIs always. */
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

static const int metadata[] = {
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    SYS_fchmod,       SYS_fchmodat,      SYS_fchmodat2, SYS_fchown,    SYS_fchownat,    SYS_utimensat,
    SYS_setxattr,     SYS_lsetxattr,     SYS_fsetxattr, SYS_setxattrat, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, SYS_removexattrat,
};

/* Pairs of connected sockets lead nowhere else and stay. */
static const int sockets[] = {SYS_socket};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct program {
  struct sock_filter filter[16 + 2 * (COUNT(always) + COUNT(metadata) + COUNT(sockets))];
  unsigned short length;
};

static void emit(struct program *p, struct sock_filter instruction) { p->filter[p->length++] = instruction; }

static void refuse_all(struct program *p, const int *calls, size_t count, unsigned error_number) {
  for (size_t i = 0; i < count; i++) {
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1));
    emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number));
  }
}

int seccomp_confine(unsigned refusals) {
  struct program p = {.length = 0};
  emit(&p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
  emit(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  emit(&p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
#if defined(__x86_64__)
  /* The x32 ABI has the same arch and other numbers: every list would miss it. */
  emit(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
#endif
  refuse_all(&p, always, COUNT(always), ENOSYS);
  if (refusals & REFUSE_METADATA) refuse_all(&p, metadata, COUNT(metadata), EPERM);
  if (refusals & REFUSE_SOCKETS) refuse_all(&p, sockets, COUNT(sockets), EPERM);
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {.len = p.length, .filter = p.filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
