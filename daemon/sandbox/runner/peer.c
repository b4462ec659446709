/* Whose connection it is: the socket at its other end, found in the kernel's table and among a command's processes. */
#include "runner.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES_MAX 4096
/* A look-up takes about a millisecond; one that somebody stopped counts as a no. */
#define LOOK_UP_MS 1000

/*
 * The inode of the socket whose local end is `peer` and whose remote end is `own`, 0 when there is none: nobody holds
 * it any more. A socket of IPv6 that speaks to 127.0.0.1 is in the other table, with the same last eight digits.
 */
static unsigned long inode_in(const char *table, const struct sockaddr_in *peer, const struct sockaddr_in *own, uid_t uid) {
  FILE *file = fopen(table, "re");
  if (file == NULL) return 0;
  char here[16], there[16], line[512];
  snprintf(here, sizeof here, "%08X", peer->sin_addr.s_addr);
  snprintf(there, sizeof there, "%08X", own->sin_addr.s_addr);
  unsigned long found = 0;
  while (found == 0 && fgets(line, sizeof line, file) != NULL) {
    char local[40], remote[40];
    unsigned local_port, remote_port, owner;
    unsigned long inode;
    if (sscanf(line, " %*d: %32[0-9A-F]:%X %32[0-9A-F]:%X %*X %*X:%*X %*X:%*X %*X %u %*d %lu", local, &local_port, remote,
               &remote_port, &owner, &inode) != 6)
      continue;
    size_t length = strlen(local);
    if (length != strlen(remote) || (length != 8 && strncmp(local, "0000000000000000FFFF0000", 24) != 0)) continue;
    if (local_port == ntohs(peer->sin_port) && remote_port == ntohs(own->sin_port) && owner == uid &&
        strcmp(local + length - 8, here) == 0 && strcmp(remote + length - 8, there) == 0)
      found = inode;
  }
  fclose(file);
  return found;
}

static bool holds(pid_t pid, const char *wanted) {
  char path[300], target[64];
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *folder = opendir(path);
  if (folder == NULL) return false;
  bool found = false;
  for (struct dirent *entry; !found && (entry = readdir(folder)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)pid, entry->d_name);
    ssize_t size = readlink(path, target, sizeof target - 1);
    if (size <= 0) continue;
    target[size] = 0;
    found = strcmp(target, wanted) == 0;
  }
  closedir(folder);
  return found;
}

/*
 * Root here has no right over other users' processes (no CAP_SYS_PTRACE), so a child becomes the command's user to look
 * into /proc/PID/fd. It stays undumpable and outside every Landlock domain: no command can trace it or speak for it.
 */
static bool anyone_holds(const pid_t *pids, size_t count, unsigned long inode, uid_t uid, gid_t gid) {
  int over[2];
  if (pipe2(over, O_CLOEXEC) < 0) return false;
  pid_t child = fork();
  if (child == 0) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0) _exit(1);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    for (size_t i = 0; i < count; i++) {
      if (holds(pids[i], wanted)) _exit(0);
    }
    _exit(1);
  }
  close(over[1]);
  int status = -1;
  struct pollfd ended = {.fd = over[0], .events = POLLIN};
  if (child > 0) {
    if (poll(&ended, 1, LOOK_UP_MS) <= 0) kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  close(over[0]);
  return status == 0;
}

bool peer_is_below(int connection, pid_t root, uid_t uid, gid_t gid) {
  struct sockaddr_in peer, own;
  socklen_t peer_size = sizeof peer, own_size = sizeof own;
  if (getpeername(connection, (struct sockaddr *)&peer, &peer_size) < 0 ||
      getsockname(connection, (struct sockaddr *)&own, &own_size) < 0)
    return false;
  static pid_t pids[PROCESSES_MAX];
  /* Twice: between the list and the look the process may have handed the socket to a child of its own and ended. */
  for (int pass = 0; pass < 2; pass++) {
    unsigned long inode = inode_in("/proc/net/tcp", &peer, &own, uid);
    if (inode == 0) inode = inode_in("/proc/net/tcp6", &peer, &own, uid);
    if (inode == 0) return false;
    size_t count = list_below(root, pids, PROCESSES_MAX);
    if (anyone_holds(pids, count, inode, uid, gid)) return true;
  }
  return false;
}
