/* Closes what a new program must not inherit, on kernels that cannot do it in one call too. */
#include "runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define CLOSE_RANGE_CLOEXEC_FLAG 4u

/* The kernel's own list of them: a loop up to the limit would take a million calls where that is high. */
static bool close_listed(int first, bool at_exec) {
  DIR *listed = opendir("/proc/self/fd");
  if (listed == NULL) return false;
  bool done = true;
  errno = 0;
  for (struct dirent *entry; done && (entry = readdir(listed)) != NULL; errno = 0) {
    int fd = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd < first || fd == dirfd(listed)) continue;
    done = (at_exec ? fcntl(fd, F_SETFD, FD_CLOEXEC) : close(fd)) == 0;
  }
  done = done && errno == 0;
  closedir(listed);
  return done;
}

bool close_from(int first, bool at_exec) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, at_exec ? CLOSE_RANGE_CLOEXEC_FLAG : 0) == 0) return true;
  /* No such call before Linux 5.9, no such flag before 5.11 and in gVisor. */
  return (errno == ENOSYS || errno == EINVAL) && close_listed(first, at_exec);
}
