/* Landlock: what a command may write, and that it cannot reach into other commands. Kernel >= 5.13. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's own interface (Documentation/userspace-api/landlock.rst), spelled here since libc headers lag behind. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif
#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH 1

#define FS_WRITE_FILE (1ull << 1)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_MAKE_SYM (1ull << 12)
#define FS_REFER (1ull << 13)    /* ABI 2 */
#define FS_TRUNCATE (1ull << 14) /* ABI 3 */
#define NET_BIND_TCP (1ull << 0) /* ABI 4 */
#define NET_CONNECT_TCP (1ull << 1)
#define FS_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ull << 0) /* ABI 6 */
#define SCOPE_SIGNAL (1ull << 1)

struct ruleset_attr {
  uint64_t handled_access_fs, handled_access_net, scoped;
};

struct __attribute__((packed)) path_beneath_attr {
  uint64_t allowed_access;
  int32_t parent_fd;
};

int landlock_abi(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : (int)abi;
}

static uint64_t write_rights(int abi) {
  uint64_t rights = FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_CHAR | FS_MAKE_DIR | FS_MAKE_REG |
                    FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_MAKE_SYM;
  if (abi >= 2) rights |= FS_REFER;
  if (abi >= 3) rights |= FS_TRUNCATE;
  if (abi >= 5) rights |= FS_IOCTL_DEV;
  return rights;
}

/*
 * A link on the way would carry the right to a place that nobody judged, so what the verdict names is opened without
 * following any. What is not there, or is a link, gets no right: narrower, never wider.
 */
static int open_place(const char *path, bool follow) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = follow ? 0 : RESOLVE_NO_SYMLINKS};
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

static int allow_below(int ruleset, const char *path, uint64_t rights, bool follow) {
  int fd = open_place(path, follow);
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EACCES ? 0 : -1;
  struct stat info;
  if (fstat(fd, &info) < 0) {
    close(fd);
    return -1;
  }
  /* Rights over entries of a folder mean nothing on a file, and the kernel refuses them there. */
  if (!S_ISDIR(info.st_mode)) rights &= FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
  struct path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
  long result = syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
  int saved = errno;
  close(fd);
  errno = saved;
  return result < 0 ? -1 : 0;
}

/* Devices that hold no data: programs open them for writing as a matter of course. */
static const char *const harmless_devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty",
                                               "/dev/ptmx", "/dev/pts",  NULL};

int landlock_confine(const struct spec *spec) {
  int abi = landlock_abi();
  if (abi == 0) return 0;
  uint64_t rights = write_rights(abi);
  struct ruleset_attr attr = {.handled_access_fs = rights};
  size_t size = sizeof attr.handled_access_fs;
  if (abi >= 4) {
    attr.handled_access_net = spec->tcp ? 0 : NET_BIND_TCP | NET_CONNECT_TCP;
    size = 2 * sizeof(uint64_t);
  }
  if (abi >= 6) {
    attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
    size = sizeof attr;
  }
  long ruleset = syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (ruleset < 0) return -1;

  int result = 0;
  for (size_t i = 0; result == 0 && spec->writable[i] != NULL; i++) {
    result = allow_below((int)ruleset, spec->writable[i], rights, false);
  }
  for (size_t i = 0; result == 0 && harmless_devices[i] != NULL; i++) {
    result = allow_below((int)ruleset, harmless_devices[i], rights & (FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV), true);
  }
  if (result == 0) result = (int)syscall(SYS_landlock_restrict_self, (int)ruleset, 0);
  int saved = errno;
  close((int)ruleset);
  errno = saved;
  return result;
}
