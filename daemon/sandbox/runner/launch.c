/* Starts a command: its streams, its user, its confinement, and nothing of ours that it could inherit. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define PIPE_BYTES (512 * 1024)

struct failure {
  int error_number;
  char step[24];
};

/* In the child: tells the minder over a close-on-exec pipe what failed, and ends. */
static _Noreturn void fail(int report, const char *step) {
  struct failure failure = {.error_number = errno};
  strncpy(failure.step, step, sizeof failure.step - 1);
  ssize_t ignored = write(report, &failure, sizeof failure);
  (void)ignored;
  _exit(127);
}

/* The terminal is opened by the command's own user, since the runner has no right to give it away. */
static int open_terminal(const struct spec *spec) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) return -1;
  int slave = open(ptsname(master), O_RDWR);
  if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0) return -1;
  struct winsize size = {.ws_row = spec->rows, .ws_col = spec->columns};
  ioctl(slave, TIOCSWINSZ, &size);
  for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
  if (slave > 2) close(slave);
  return master;
}

static int send_descriptor(int socket, int fd) {
  char byte = 0;
  struct iovec data = {&byte, 1};
  union {
    char buffer[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  memset(&control, 0, sizeof control);
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.buffer, .msg_controllen = sizeof control.buffer};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int socket) {
  char byte;
  struct iovec data = {&byte, 1};
  union {
    char buffer[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control;
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.buffer, .msg_controllen = sizeof control.buffer};
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head == NULL || head->cmsg_type != SCM_RIGHTS) return -1;
  int fd;
  memcpy(&fd, CMSG_DATA(head), sizeof fd);
  return fd;
}

static int limit(int resource, uint64_t value) {
  struct rlimit both = {.rlim_cur = value, .rlim_max = value};
  return value == 0 ? 0 : setrlimit(resource, &both);
}

static _Noreturn void become_command(const struct spec *spec, int streams[3], int terminal, int report) {
  if (setsid() < 0) fail(report, "setsid");
  /* When memory runs out the command goes first, not its minder. */
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    ssize_t ignored = write(score, "500", 3);
    (void)ignored;
    close(score);
  }
  for (int fd = 0; terminal < 0 && fd < 3; fd++) {
    if (dup2(streams[fd], fd) < 0) fail(report, "streams");
  }
  if (limit(RLIMIT_FSIZE, spec->file_bytes) < 0 || limit(RLIMIT_NOFILE, spec->open_files) < 0 ||
      setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) < 0)
    fail(report, "limits");
  if (setgroups(0, NULL) < 0 || setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
      setresuid(spec->uid, spec->uid, spec->uid) < 0)
    fail(report, "user");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail(report, "no_new_privs");
  if (terminal >= 0) {
    int master = open_terminal(spec);
    if (master < 0 || send_descriptor(terminal, master) < 0) fail(report, "terminal");
  }
  if (chdir(spec->cwd) < 0) fail(report, "cwd");
  if (spec->confine) {
    if (landlock_confine(spec) < 0) fail(report, "landlock");
    if (seccomp_confine(spec->refusals) < 0) fail(report, "seccomp");
  }
  /* The only one that its minder ignores; runner.c saw to the others. */
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  /* All from 3 on close at exec, `report` too: its end of file says that the program runs. */
  if (!close_from(3, true)) fail(report, "descriptors");
  if (spec->direct[0] != NULL) try_directly(spec);
  environ = spec->env;
  execvp(spec->argv[0], spec->argv);
  fail(report, "exec");
}

/* A pipe that belongs to the command's user: only then may it be opened anew by name, as /dev/stderr is. */
static bool pipe_of(const struct spec *spec, int pair[2]) {
  setfsgid(spec->gid);
  setfsuid(spec->uid);
  bool made = pipe2(pair, O_CLOEXEC) == 0;
  setfsuid(geteuid());
  setfsgid(getegid());
  return made;
}

static void close_pair(int pair[2]) {
  for (int end = 0; end < 2; end++) {
    if (pair[end] >= 0) close(pair[end]);
  }
}

bool launch(const struct spec *spec, struct launched *launched, int *error_number, const char **step) {
  static struct failure failure;
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, terminal[2] = {-1, -1}, report[2] = {-1, -1};
  *step = "streams";
  bool made = pipe2(report, O_CLOEXEC) == 0;
  if (spec->tty) {
    made = made && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, terminal) == 0;
  } else {
    if (spec->stdin_open) {
      made = made && pipe_of(spec, in);
    } else {
      in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
      made = made && in[0] >= 0;
    }
    made = made && pipe_of(spec, out) && pipe_of(spec, err);
    /* A larger pipe means fewer wake-ups for a command that prints much; not getting it changes nothing else. */
    if (made) fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES);
  }
  pid_t child = made ? fork_sharing_folder() : -1;
  *error_number = errno;
  if (child == 0) become_command(spec, (int[3]){in[0], out[1], err[1]}, terminal[1], report[1]);
  if (child < 0) {
    close_pair(in), close_pair(out), close_pair(err), close_pair(terminal), close_pair(report);
    return false;
  }

  close(report[1]);
  if (in[0] >= 0) close(in[0]);
  if (out[1] >= 0) close(out[1]);
  if (err[1] >= 0) close(err[1]);
  *launched = (struct launched){.pid = child, .in = in[1], .out = out[0], .err = err[0]};
  if (spec->tty) {
    close(terminal[1]);
    launched->out = receive_descriptor(terminal[0]);
    launched->in = launched->out < 0 ? -1 : fcntl(launched->out, F_DUPFD_CLOEXEC, 3);
    close(terminal[0]);
  }
  /* Blocks until exec or failure: what follows speaks of a program that runs. */
  bool failed = read_all(report[0], &failure, sizeof failure);
  close(report[0]);
  if (!failed) return true;
  *error_number = failure.error_number;
  *step = failure.step;
  for (int stream = 0; stream < 3; stream++) {
    int fd = (int[3]){launched->in, launched->out, launched->err}[stream];
    if (fd >= 0) close(fd);
  }
  return false;
}
