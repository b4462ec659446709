/* A command's way out: a port of loopback from which only that command's own processes are carried to the daemon. */
#include "runner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Connections at once; the daemon has the same bound. More wait in the kernel's queue. */
#define CONNECTIONS_MAX 64
#define BUFFER (32u * 1024u)

/* One direction; the end of one is no end of the other. */
struct flow {
  uint8_t data[BUFFER];
  size_t start, end;
  bool over, told;
};

struct connection {
  int near, far; /* the command's side, the daemon's side */
  struct flow out, in;
};

static int connect_to_daemon(const struct spec *spec) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (fd < 0) return -1;
  if (strlen(spec->way_out) < sizeof address.sun_path) {
    strcpy(address.sun_path, spec->way_out);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        write_all(fd, spec->way_out_token, WAY_OUT_TOKEN_BYTES)) {
      fcntl(fd, F_SETFL, O_NONBLOCK);
      return fd;
    }
  }
  close(fd);
  return -1;
}

static void admit(const struct spec *spec, pid_t minder, int listener, struct connection **free_slot) {
  int near = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (near < 0) return;
  /* Whoever is refused here has sent nothing anywhere: not a byte is read before. */
  int far = peer_is_below(near, minder, spec->uid, spec->gid) ? connect_to_daemon(spec) : -1;
  struct connection *made = far < 0 ? NULL : calloc(1, sizeof *made);
  if (made == NULL) {
    close(near);
    if (far >= 0) close(far);
    return;
  }
  made->near = near;
  made->far = far;
  *free_slot = made;
}

/* Moves what can be moved. False when the connection is broken. */
static bool carry(struct flow *flow, int from, int to, bool readable, bool writable) {
  if (readable && flow->start == flow->end && !flow->over) {
    ssize_t got = read(from, flow->data, BUFFER);
    if (got < 0 && errno != EAGAIN && errno != EINTR) return false;
    flow->over = got == 0;
    flow->start = 0;
    flow->end = got > 0 ? (size_t)got : 0;
    writable = true;
  }
  if (writable && flow->start < flow->end) {
    ssize_t sent = write(to, flow->data + flow->start, flow->end - flow->start);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent > 0) flow->start += (size_t)sent;
  }
  if (flow->over && !flow->told && flow->start == flow->end) {
    flow->told = true;
    shutdown(to, SHUT_WR);
  }
  return true;
}

static struct pollfd waiting(int fd, const struct flow *from, const struct flow *to) {
  bool room = from->start == from->end && !from->over;
  short events = (short)((room ? POLLIN : 0) | (to->start < to->end ? POLLOUT : 0));
  return (struct pollfd){.fd = events == 0 ? -1 : fd, .events = events};
}

static bool serve(struct connection *c, const struct pollfd *near, const struct pollfd *far) {
  const short in = POLLIN | POLLHUP | POLLERR, out = POLLOUT | POLLHUP | POLLERR;
  if (!carry(&c->out, c->near, c->far, near->revents & in, far->revents & out)) return false;
  if (!carry(&c->in, c->far, c->near, far->revents & in, near->revents & out)) return false;
  /* The daemon let go of it altogether: it was cut, and what the command still says goes nowhere. */
  struct pollfd gone = {.fd = c->far};
  bool cut = c->in.told && poll(&gone, 1, 0) > 0 && (gone.revents & (POLLHUP | POLLERR));
  return !cut && !(c->out.told && c->in.told);
}

/* Until the minder is gone, which closes its end of `lifeline`. */
static _Noreturn void relay(const struct spec *spec, pid_t minder, int listener, int lifeline) {
  static struct connection *connections[CONNECTIONS_MAX];
  for (;;) {
    struct pollfd wait[2 + 2 * CONNECTIONS_MAX];
    struct connection **free_slot = NULL;
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
      struct connection *c = connections[i];
      if (c == NULL) free_slot = &connections[i];
      struct pollfd none = {.fd = -1};
      wait[2 + 2 * i] = c == NULL ? none : waiting(c->near, &c->out, &c->in);
      wait[3 + 2 * i] = c == NULL ? none : waiting(c->far, &c->in, &c->out);
    }
    wait[0] = (struct pollfd){.fd = lifeline, .events = POLLIN};
    wait[1] = (struct pollfd){.fd = free_slot == NULL ? -1 : listener, .events = POLLIN};
    if (poll(wait, sizeof wait / sizeof wait[0], -1) < 0) continue;
    if (wait[0].revents) _exit(0);
    for (int i = 0; i < CONNECTIONS_MAX; i++) {
      struct connection *c = connections[i];
      if (c == NULL || serve(c, &wait[2 + 2 * i], &wait[3 + 2 * i])) continue;
      close(c->near);
      close(c->far);
      free(c);
      connections[i] = NULL;
    }
    if (wait[1].revents) admit(spec, minder, listener, free_slot);
  }
}

/* Nothing of the minder's stays open here: its connection to the daemon must end with it. */
static void keep_only(int listener, int lifeline) {
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  int kept[5] = {nothing, nothing, nothing, fcntl(listener, F_DUPFD_CLOEXEC, 16), fcntl(lifeline, F_DUPFD_CLOEXEC, 16)};
  for (int fd = 0; fd < 5; fd++) {
    if (kept[fd] < 0 || dup2(kept[fd], fd) < 0) _exit(70);
  }
  if (!close_from(5, false)) _exit(70);
}

static const char *const proxy_names[] = {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"};
/* What the sandbox serves itself is no business of the proxy. */
static const char *const direct_names[] = {"no_proxy", "NO_PROXY"};
#define NAMES 6

static bool is_named(const char *entry, const char *name) {
  size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Tells the command where its port is. There is nothing secret in that: others who connect to it are refused. */
static bool set_environment(struct spec *spec, unsigned port) {
  static char texts[NAMES][64];
  size_t count = 0, kept = 0;
  while (spec->env[count] != NULL) count++;
  char **env = calloc(count + NAMES + 1, sizeof *env);
  if (env == NULL) return false;
  for (int i = 0; i < NAMES; i++) {
    if (i < 4) snprintf(texts[i], sizeof texts[i], "%s=http://127.0.0.1:%u", proxy_names[i], port);
    else snprintf(texts[i], sizeof texts[i], "%s=localhost,127.0.0.1,::1", direct_names[i - 4]);
    env[kept++] = texts[i];
  }
  for (size_t at = 0; at < count; at++) {
    bool ours = false;
    for (int i = 0; i < NAMES; i++) ours = ours || is_named(spec->env[at], i < 4 ? proxy_names[i] : direct_names[i - 4]);
    if (!ours) env[kept++] = spec->env[at];
  }
  free(spec->env);
  spec->env = env;
  return true;
}

int way_out_open(struct spec *spec) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int lifeline[2] = {-1, -1}, status = -1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool made = listener >= 0 && bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 128) == 0 &&
              getsockname(listener, (struct sockaddr *)&address, &size) == 0 && pipe2(lifeline, O_CLOEXEC) == 0 &&
              set_environment(spec, ntohs(address.sin_port));
  /* One that served a command before is a subreaper, and would be given the relay as a child. */
  made = made && prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0;
  pid_t minder = getpid();
  pid_t between = made ? fork() : -1;
  if (between == 0) {
    /* A child of nobody's: what a minder has below itself is the command's and is killed with it. */
    pid_t own = fork();
    if (own != 0) _exit(own < 0);
    keep_only(listener, lifeline[0]);
    signal(SIGPIPE, SIG_IGN);
    fcntl(3, F_SETFL, O_NONBLOCK);
    relay(spec, minder, 3, 4);
  }
  if (between > 0) waitpid(between, &status, 0);
  if (listener >= 0) close(listener);
  if (lifeline[0] >= 0) close(lifeline[0]);
  if (status == 0) return lifeline[1];
  if (lifeline[1] >= 0) close(lifeline[1]);
  return -1;
}
