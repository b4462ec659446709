/* System calls that Landlock does not see: metadata and sockets where the verdict has none; io_uring, foreign ABIs, limits of others always. */
#include "runner.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
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
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
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
    SYS_fremovexattr, SYS_removexattrat, SYS_file_setattr,
};

/*
 * File systems change metadata by ioctl too, on a file that is open for reading: flags and attributes of inodes, seals of
 * fs-verity, volumes of btrfs. Of their families of requests only those pass that are known to read.
 */
static const unsigned reading_requests[] = {
    0x80086601, /* FS_IOC_GETFLAGS, of lsattr */
    0x80087601, /* FS_IOC_GETVERSION */
    0x801c581f, /* FS_IOC_FSGETXATTR */
    0xc020660b, /* FS_IOC_FIEMAP, of cp and filefrag */
};
static const unsigned file_system_families[] = {'f' << 8, 'v' << 8, 'X' << 8, 0x94 << 8 /* btrfs, clones */, 0xf5 << 8 /* f2fs */};

/* Pairs of connected sockets lead nowhere else and stay. */
static const int sockets[] = {SYS_socket};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct program {
  struct sock_filter filter[32 + 2 * (COUNT(always) + COUNT(metadata) + COUNT(sockets) + COUNT(reading_requests) +
                                      COUNT(file_system_families))];
  unsigned short length;
};

static void emit(struct program *p, struct sock_filter instruction) { p->filter[p->length++] = instruction; }

static void load(struct program *p, size_t offset) {
  emit(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void answer(struct program *p, const unsigned *values, size_t count, unsigned how) {
  for (size_t i = 0; i < count; i++) {
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1));
    emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how));
  }
}

/* The low half of an argument; both architectures are little endian. */
#define ARGUMENT(number) (offsetof(struct seccomp_data, args) + 8 * (number))

/* What follows until end_only is for this call; it must end with an answer, since it loads something else. */
static unsigned short only_for(struct program *p, int call) {
  emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 0));
  return p->length;
}

static void end_only(struct program *p, unsigned short start) {
  p->filter[start - 1].jf = (uint8_t)(p->length - start);
}

static void refuse_changing_ioctls(struct program *p) {
  unsigned short start = only_for(p, SYS_ioctl);
  load(p, ARGUMENT(1));
  answer(p, reading_requests, COUNT(reading_requests), SECCOMP_RET_ALLOW);
  emit(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00));
  answer(p, file_system_families, COUNT(file_system_families), SECCOMP_RET_ERRNO | EPERM);
  emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  end_only(p, start);
}

/* A limit of processor time or open files set on another command's process ends it as surely as a signal. */
static void refuse_limits_of_others(struct program *p) {
  unsigned short start = only_for(p, SYS_prlimit64);
  load(p, ARGUMENT(0));
  answer(p, (unsigned[]){0}, 1, SECCOMP_RET_ALLOW);
  /* Asking is no harm: then the pointer to the new limit is null in both halves. */
  load(p, ARGUMENT(2));
  emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
  emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  load(p, ARGUMENT(2) + 4);
  answer(p, (unsigned[]){0}, 1, SECCOMP_RET_ALLOW);
  emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  end_only(p, start);
}

static void refuse_all(struct program *p, const int *calls, size_t count, unsigned error_number) {
  for (size_t i = 0; i < count; i++) {
    emit(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1));
    emit(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number));
  }
}

int seccomp_confine(unsigned refusals) {
  struct program p = {.length = 0};
  load(&p, offsetof(struct seccomp_data, arch));
  emit(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0));
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  load(&p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  /* The x32 ABI has the same arch and other numbers: every list would miss it. */
  emit(&p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
#endif
  refuse_all(&p, always, COUNT(always), ENOSYS);
  refuse_limits_of_others(&p);
  if (refusals & REFUSE_METADATA) {
    refuse_all(&p, metadata, COUNT(metadata), EPERM);
    refuse_changing_ioctls(&p);
  }
  if (refusals & REFUSE_SOCKETS) refuse_all(&p, sockets, COUNT(sockets), EPERM);
  emit(&p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {.len = p.length, .filter = p.filter};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
