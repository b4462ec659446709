/* One minder serves one command: starts it, carries its streams with back-pressure, and knows exactly its processes. */
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Largest frame from the daemon once the command runs. */
#define INCOMING_MAX (FRAME_HEAD + 65536u)
/* How long a minder waits for the daemon to close after the last frame. */
#define FAREWELL_MS 5000
/*
 * Output that follows output within this is gathered, so that a flood goes in large frames: woken for each piece, the
 * minder, the daemon and the client would spend more on waking up than on the bytes. Nanoseconds.
 */
#define GATHER_NS 400000
/*
 * What a command left running and writes to its streams is given this long to end before the command counts as ended:
 * `tee >(sha256sum)` is over when its last part is. A server in the background costs its command as much. Nanoseconds.
 */
#define LINGER_NS 200000000

struct minder {
  int in_fd, out_fd, signals;
  struct launched command;
  bool tty, running, exit_sent, killing, peer_gone;
  /* May serve another command on the same connection once this one is gone. */
  bool reusable;
  int status;
  /* What was started, and whether that is what has ended, or a program that took its place. */
  char program[PROGRAM_NAME];
  bool ended_itself;
  uint32_t memory_kills;
  /* Bytes that were in each pipe when the command ended: they come before its exit. */
  uint32_t owed_out, owed_err;
  /* When output was last read, nanoseconds of the monotonic clock. */
  int64_t carried_at;
  int64_t ended_at;
  /* To the daemon; output is read only while this is empty, so it holds one chunk and a few small frames. */
  uint8_t *outgoing;
  size_t outgoing_start, outgoing_end, outgoing_capacity;
  uint8_t incoming[INCOMING_MAX];
  size_t incoming_size;
  uint8_t input[STDIN_WINDOW];
  size_t input_start, input_end;
  bool input_over;
};

static void close_stream(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Room for a frame's head and `size` bytes of payload at the end of the outgoing buffer. */
static uint8_t *reserve(struct minder *m, size_t size) {
  if (m->outgoing_start == m->outgoing_end) m->outgoing_start = m->outgoing_end = 0;
  size_t needed = m->outgoing_end + FRAME_HEAD + size;
  if (needed > m->outgoing_capacity) {
    uint8_t *larger = realloc(m->outgoing, needed);
    if (larger == NULL) _exit(70);
    m->outgoing = larger;
    m->outgoing_capacity = needed;
  }
  return m->outgoing + m->outgoing_end + FRAME_HEAD;
}

static void commit(struct minder *m, uint8_t type, uint32_t size) {
  uint8_t *head = m->outgoing + m->outgoing_end;
  put_u32(head, size);
  head[4] = type;
  m->outgoing_end += FRAME_HEAD + size;
}

static void say(struct minder *m, uint8_t type, const uint32_t *words, int count) {
  uint8_t *at = reserve(m, (size_t)count * 4);
  for (int i = 0; i < count; i++) put_u32(at + 4 * i, words[i]);
  commit(m, type, (uint32_t)count * 4);
}

static void flush(struct minder *m) {
  while (m->outgoing_start < m->outgoing_end) {
    ssize_t sent = write(m->out_fd, m->outgoing + m->outgoing_start, m->outgoing_end - m->outgoing_start);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) m->peer_gone = true;
      return;
    }
    m->outgoing_start += (size_t)sent;
  }
}

/* One read of a stream into one frame. */
static void carry(struct minder *m, int *fd, uint8_t type, uint32_t *owed) {
  uint8_t *at = reserve(m, CHUNK);
  ssize_t got = read(*fd, at, CHUNK);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) { /* End of file; EIO is a terminal whose last user is gone. */
    close_stream(fd);
    *owed = 0;
    return;
  }
  m->carried_at = now_ns();
  commit(m, type, (uint32_t)got);
  *owed = *owed > (uint32_t)got ? *owed - (uint32_t)got : 0;
  flush(m);
}

static void feed_command(struct minder *m) {
  uint32_t taken = 0;
  while (m->command.in >= 0 && m->input_start < m->input_end) {
    ssize_t written = write(m->command.in, m->input + m->input_start, m->input_end - m->input_start);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) { /* It no longer reads: what was sent for it is taken as read. */
      close_stream(&m->command.in);
      break;
    }
    m->input_start += (size_t)written;
    taken += (uint32_t)written;
  }
  if (m->command.in < 0) {
    taken += (uint32_t)(m->input_end - m->input_start);
    m->input_start = m->input_end;
  }
  if (m->input_start == m->input_end) {
    m->input_start = m->input_end = 0;
    if (m->input_over && m->command.in >= 0) {
      if (m->tty) {
        ssize_t ignored = write(m->command.in, "\004", 1);
        (void)ignored;
        m->input_over = false;
      } else {
        close_stream(&m->command.in);
      }
    }
  }
  if (taken > 0) say(m, FRAME_STDIN_TAKEN, &taken, 1);
}

static bool handle(struct minder *m, uint8_t type, const uint8_t *payload, uint32_t size) {
  switch (type) {
    case FRAME_STDIN:
      if (m->input_start > 0) {
        memmove(m->input, m->input + m->input_start, m->input_end - m->input_start);
        m->input_end -= m->input_start;
        m->input_start = 0;
      }
      if (size > STDIN_WINDOW - m->input_end) return false;
      memcpy(m->input + m->input_end, payload, size);
      m->input_end += size;
      feed_command(m);
      return true;
    case FRAME_STDIN_END:
      m->input_over = true;
      feed_command(m);
      return true;
    case FRAME_SIGNAL: {
      if (size != 5) return false;
      int signal = (int)get_u32(payload);
      if (signal < 1 || signal > 64) return false;
      if (payload[4] == 0) {
        if (m->running) kill(-m->command.pid, signal);
      } else if (signal == SIGKILL) {
        m->killing = true;
      } else {
        signal_tree(signal);
      }
      return true;
    }
    case FRAME_RESIZE: {
      if (size != 4) return false;
      struct winsize window = {.ws_row = (uint16_t)(payload[0] | payload[1] << 8),
                               .ws_col = (uint16_t)(payload[2] | payload[3] << 8)};
      if (m->tty && m->command.out >= 0) ioctl(m->command.out, TIOCSWINSZ, &window);
      return true;
    }
    default: return false;
  }
}

static void receive(struct minder *m) {
  ssize_t got = read(m->in_fd, m->incoming + m->incoming_size, sizeof m->incoming - m->incoming_size);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    m->peer_gone = true;
    return;
  }
  m->incoming_size += (size_t)got;
  size_t at = 0;
  while (!m->peer_gone && m->incoming_size - at >= FRAME_HEAD) {
    uint32_t size = get_u32(m->incoming + at);
    if (size > INCOMING_MAX - FRAME_HEAD) m->peer_gone = true;
    if (m->peer_gone || m->incoming_size - at - FRAME_HEAD < size) break;
    /* A peer that breaks the protocol is as good as gone: the command must not outlive its judge. */
    if (!handle(m, m->incoming[at + 4], m->incoming + at + FRAME_HEAD, size)) m->peer_gone = true;
    at += FRAME_HEAD + size;
  }
  memmove(m->incoming, m->incoming + at, m->incoming_size - at);
  m->incoming_size -= at;
}

/* Reaps what ended. Returns false when nothing that the command started is left. */
static bool reap(struct minder *m) {
  for (;;) {
    int status;
    /* Looked at before it is reaped: its name goes with it. */
    siginfo_t ended = {.si_pid = 0};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) < 0) return false;
    if (ended.si_pid == 0) return true;
    bool main = ended.si_pid == m->command.pid && m->running;
    bool ended_itself = main && is_program(ended.si_pid, m->program);
    pid_t gone = waitpid(ended.si_pid, &status, WNOHANG);
    if (gone < 0) return false;
    if (main) {
      m->running = false;
      m->ended_itself = ended_itself;
      m->ended_at = now_ns();
      m->status = status;
      m->owed_out = readable_now(m->command.out);
      m->owed_err = readable_now(m->command.err);
    }
  }
}

static void say_folder(struct minder *m) {
  uint8_t *at = reserve(m, 1 + PATH_MAX);
  at[0] = m->ended_itself;
  size_t length = shared_folder((char *)at + 1);
  if (length > 0) commit(m, FRAME_FOLDER, (uint32_t)(1 + length));
}

static void send_rest(struct minder *m) {
  flush(m);
  while (!m->peer_gone && m->outgoing_start < m->outgoing_end) {
    struct pollfd writable = {.fd = m->out_fd, .events = POLLOUT};
    poll(&writable, 1, -1);
    flush(m);
  }
}

/* Waits for the daemon to close its end: closing first, with input unread, would make the kernel throw away output that
 * is still on its way. */
static void farewell(struct minder *m) {
  struct pollfd readable = {.fd = m->in_fd, .events = POLLIN};
  while (!m->peer_gone && poll(&readable, 1, FAREWELL_MS) > 0) {
    ssize_t got = read(m->in_fd, m->incoming, sizeof m->incoming);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return;
  }
}

static void serve(struct minder *m) {
  bool left = true;
  for (;;) {
    if (m->killing && left) {
      int status;
      bool gone = false;
      kill_tree(m->running ? m->command.pid : -1, &status, &gone);
      if (gone) {
        m->running = false;
        m->status = status;
        m->owed_out = readable_now(m->command.out);
        m->owed_err = readable_now(m->command.err);
      }
      left = false;
    }
    /* A terminal's last output arrives late, but its end of file is sure once nobody is left to hold it. */
    bool terminal_open = m->tty && !left && m->command.out >= 0;
    bool writers = left && !m->tty && (m->command.out >= 0 || m->command.err >= 0);
    int64_t linger = !m->running && !m->exit_sent && writers ? m->ended_at + LINGER_NS - now_ns() : 0;
    if (!m->running && !m->exit_sent && m->owed_out == 0 && m->owed_err == 0 && !terminal_open && linger <= 0) {
      uint32_t there = left ? (uint32_t)signal_tree(0) : 0;
      uint32_t starved = m->status != 0 && !m->killing && memory_kills() != m->memory_kills;
      if (!m->killing) say_folder(m);
      say(m, FRAME_EXITED, (uint32_t[]){(uint32_t)m->status, there, starved}, 3);
      m->exit_sent = true;
    }
    bool drained = readable_now(m->command.out) == 0 && readable_now(m->command.err) == 0;
    if (m->exit_sent && !left && drained) {
      /* In the middle of a frame nobody could tell where the next command begins. */
      if (m->incoming_size > 0) m->reusable = false;
      *reserve(m, 1) = m->reusable;
      commit(m, FRAME_GONE, 1);
      send_rest(m);
      if (!m->reusable) farewell(m);
      return;
    }
    flush(m);
    if (m->peer_gone) {
      int status;
      bool gone = false;
      kill_tree(-1, &status, &gone);
      return;
    }

    bool clear = m->outgoing_start == m->outgoing_end;
    /* Whatever fills a frame, or is the last there is, goes at once. */
    int64_t gather = m->running && !m->tty ? m->carried_at + GATHER_NS - now_ns() : 0;
    bool waits = clear && gather > 0 && readable_now(m->command.out) < CHUNK && readable_now(m->command.err) < CHUNK / 4;
    if (waits) clear = false;
    struct pollfd wait[6] = {
        {.fd = m->in_fd, .events = POLLIN},
        {.fd = m->signals, .events = POLLIN},
        {.fd = clear || waits ? -1 : m->out_fd, .events = POLLOUT},
        {.fd = clear ? m->command.out : -1, .events = POLLIN},
        {.fd = clear ? m->command.err : -1, .events = POLLIN},
        {.fd = m->input_start < m->input_end ? m->command.in : -1, .events = POLLOUT},
    };
    int64_t pause = waits ? gather : linger;
    struct timespec until = {.tv_nsec = pause > 0 ? pause : 0};
    if (ppoll(wait, 6, pause > 0 ? &until : NULL, NULL) < 0 && errno != EINTR) _exit(70);
    if (wait[1].revents) {
      struct signalfd_siginfo info;
      while (read(m->signals, &info, sizeof info) > 0) continue;
      left = reap(m);
    }
    if (wait[0].revents) receive(m);
    if (wait[3].revents) carry(m, &m->command.out, FRAME_STDOUT, &m->owed_out);
    /* Not both in one turn when the first filled the buffer: it holds one chunk. */
    if (wait[4].revents && m->outgoing_start == m->outgoing_end) carry(m, &m->command.err, FRAME_STDERR, &m->owed_err);
    if (wait[5].revents) feed_command(m);
  }
}

int mind(int in_fd, int out_fd, void (*taken)(void), bool reused, bool *again) {
  uint8_t type, *payload;
  uint32_t size;
  bool may_serve_another = again != NULL;
  if (may_serve_another) *again = false;
  if (!receive_first(in_fd, reused, &type, &payload, &size)) return 0;
  if (taken != NULL) taken();
  struct spec spec;
  const char *why = "the first frame is not a specification";
  if (type != FRAME_SPEC || !parse_spec(payload, size, &spec, &why)) {
    send_failure(out_fd, EPROTO, why);
    return 1;
  }

  /* Held until this process ends, and the way out with it. */
  if (spec.way_out != NULL && way_out_open(&spec) < 0) {
    send_failure(out_fd, errno, "way out");
    return 1;
  }
  /* gVisor of some age lacks this: what lost its parent would be nobody's, and "nothing is left" no truth. */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
    send_failure(out_fd, errno, "child subreaper");
    return 1;
  }
  signal(SIGPIPE, SIG_IGN);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_SETMASK, &children, NULL);

  struct minder *m = calloc(1, sizeof *m);
  if (m == NULL) return 70;
  m->in_fd = in_fd;
  m->out_fd = out_fd;
  m->tty = spec.tty;
  /* A way out is held until this process ends. */
  m->reusable = may_serve_another && spec.way_out == NULL;
  m->memory_kills = memory_kills();
  program_name(spec.argv[0], m->program);
  mode_t mask = mode_mask();
  m->signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  int error_number;
  if (m->signals < 0 || !launch(&spec, &m->command, &error_number, &why)) {
    send_failure(out_fd, m->signals < 0 ? errno : error_number, why);
    return 1;
  }
  m->running = true;
  uint8_t started[9];
  put_u32(started, (uint32_t)m->command.pid);
  put_u32(started + 4, spec.confine ? (uint32_t)landlock_abi() : 0);
  started[8] = spec.confine;
  memcpy(reserve(m, sizeof started), started, sizeof started);
  commit(m, FRAME_STARTED, sizeof started);
  free_spec(&spec);
  free(payload);

  int ours[] = {m->in_fd, m->out_fd, m->command.in, m->command.out, m->command.err};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) make_nonblocking(ours[i]);
  serve(m);
  if (!leave_folder(mask)) m->reusable = false;
  int mine[] = {m->signals, m->command.in, m->command.out, m->command.err};
  for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++) close_stream(&mine[i]);
  if (may_serve_another) *again = m->reusable && !m->peer_gone;
  free(m->outgoing);
  free(m);
  return 0;
}
