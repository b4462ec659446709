/* The program that a session's one docker exec starts: keeps minders ready, each connected to the daemon's socket. */
#include "runner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#define SPARES_MAX 16

static const char *socket_path;
static uint8_t secret[SECRET_BYTES];
static int notify[2];

/* A minder that got its command says so, and another takes its place. */
static void taken(void) {
  uint8_t pid[4];
  put_u32(pid, (uint32_t)getpid());
  write_all(notify[1], pid, sizeof pid);
  close(notify[1]);
}

static int open_connection(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (fd < 0) return -1;
  strcpy(address.sun_path, socket_path);
  /* As much as the kernel gives: what fits in here need not wait for the daemon to get its turn. */
  int bytes = 1024 * 1024;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

static int connect_to_daemon(void) {
  int fd = open_connection();
  if (fd < 0) return -1;
  uint8_t hello[SECRET_BYTES + 8];
  memcpy(hello, secret, SECRET_BYTES);
  put_u32(hello + SECRET_BYTES, (uint32_t)getpid());
  put_u32(hello + SECRET_BYTES + 4, (uint32_t)landlock_abi());
  return send_frame(fd, FRAME_HELLO, hello, sizeof hello) ? fd : -1;
}

static pid_t spare(void) {
  pid_t child = fork();
  if (child != 0) return child;
  close(notify[0]);
  /* Descriptors 0 to 2 stay taken, so that no stream of a command ever gets one of those numbers. */
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(70);
  close(nothing);
  int fd = connect_to_daemon();
  if (fd < 0) _exit(69);
  bool again = false;
  int code = mind(fd, fd, taken, false, &again);
  while (again) code = mind(fd, fd, NULL, true, &again);
  _exit(code);
}

static bool forget(pid_t *idle, int *count, pid_t pid) {
  for (int i = 0; i < *count; i++) {
    if (idle[i] != pid) continue;
    idle[i] = idle[--*count];
    return true;
  }
  return false;
}

/* Runs until the daemon's end of stdin closes. Minders with a command end with their own connection. */
static int keep_ready(int wanted) {
  pid_t idle[SPARES_MAX];
  int count = 0;
  bool failing = false;
  for (;;) {
    for (int status; ;) {
      pid_t gone = waitpid(-1, &status, WNOHANG);
      if (gone <= 0) break;
      if (forget(idle, &count, gone)) failing = true;
    }
    while (!failing && count < wanted) {
      pid_t pid = spare();
      if (pid < 0) {
        failing = true;
        break;
      }
      idle[count++] = pid;
    }
    struct pollfd wait[2] = {{.fd = notify[0], .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    /* After a failure (no more processes, daemon gone) try again a little later rather than at once. */
    int ready = poll(wait, 2, failing ? 100 : 1000);
    failing = false;
    if (ready < 0 && errno != EINTR) return 70;
    if (ready <= 0) continue;
    if (wait[0].revents & POLLIN) {
      uint8_t pid[4];
      if (read_all(notify[0], pid, sizeof pid)) forget(idle, &count, (pid_t)get_u32(pid));
    }
    if (wait[1].revents) {
      char ignored[256];
      if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0) {
        for (int i = 0; i < count; i++) kill(idle[i], SIGTERM);
        return 0;
      }
    }
  }
}

/* What is ignored stays so in every program that is started below; commands begin with nothing ignored. */
static void ignore_no_signal(void) {
  for (int signal = 1; signal < NSIG; signal++) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
  }
}

int main(int argc, char **argv) {
  ignore_no_signal();
  /* Not even a process of the same user may trace it or read its memory. */
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  if (argc == 2 && strcmp(argv[1], "--abi") == 0) return printf("%d\n", landlock_abi()) < 0;
  if (argc == 2 && strcmp(argv[1], "--once") == 0) return mind(STDIN_FILENO, STDOUT_FILENO, NULL, false, NULL);
  if (argc != 4 || strcmp(argv[1], "--socket") != 0) {
    fprintf(stderr, "usage: recinto-runner --socket PATH SPARES (secret on stdin) | --once | --abi\n");
    return 64;
  }
  socket_path = argv[2];
  if (strlen(socket_path) >= sizeof((struct sockaddr_un *)NULL)->sun_path) return 64;
  int wanted = atoi(argv[3]);
  if (wanted < 1 || wanted > SPARES_MAX) wanted = 4;
  if (!read_all(STDIN_FILENO, secret, sizeof secret) || pipe2(notify, O_CLOEXEC) < 0) return 69;
  /* Tried once before all: where the socket cannot be reached at all, waiting for a minder would be in vain. */
  int trial = open_connection();
  if (trial < 0) {
    fprintf(stderr, "cannot reach the daemon's socket: %s\n", strerror(errno));
    return 69;
  }
  close(trial);
  return keep_ready(wanted);
}
