/* Where a command ended: it shares its current folder with its minder, which still has it then. Nothing rests on it. */
#include "runner.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel keeps one folder, root and file mode mask for parent and child, also when the child becomes another program;
 * what the child starts has its own. So the text of a command need not be touched to know where its shell went.
 */
pid_t fork_sharing_folder(void) {
  return (pid_t)syscall(SYS_clone, CLONE_FS | SIGCHLD, NULL, NULL, NULL, 0);
}

void program_name(const char *path, char name[PROGRAM_NAME]) {
  const char *slash = strrchr(path, '/');
  snprintf(name, PROGRAM_NAME, "%s", slash == NULL ? path : slash + 1);
}

bool is_program(pid_t pid, const char *wanted) {
  char path[64], name[PROGRAM_NAME + 1];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
  if (fd >= 0) close(fd);
  if (size <= 0) return false;
  name[size - 1] = 0; /* In place of the newline at its end. */
  return strcmp(name, wanted) == 0;
}

size_t shared_folder(char *path) {
  /* One that was removed, or lies outside of what this process sees, has no name. */
  return getcwd(path, PATH_MAX) == NULL || path[0] != '/' ? 0 : strlen(path);
}

mode_t mode_mask(void) {
  mode_t mask = umask(0);
  umask(mask);
  return mask;
}

bool leave_folder(mode_t mask) {
  umask(mask);
  return chdir("/") == 0;
}
