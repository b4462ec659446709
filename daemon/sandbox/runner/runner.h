/* What the parts of the runner share: frames, the command specification, and what each part offers. */
#ifndef RECINTO_RUNNER_H
#define RECINTO_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A frame on the wire: u32 payload length (little endian), u8 type, payload. One connection carries one command at a
 * time, and the next only after the last was gone.
 */
#define FRAME_HEAD 5u
/* Largest payload in either direction: a specification with its environment. The daemon keeps the same bound. */
#define FRAME_MAX (8u * 1024u * 1024u)
/* Bytes read from a command at once, and so the largest output frame. */
#define CHUNK (256u * 1024u)
/* Input the daemon may send before it hears STDIN_TAKEN: bounds what a minder holds for a command that does not read. */
#define STDIN_WINDOW (256u * 1024u)
#define SECRET_BYTES 32u
#define WAY_OUT_TOKEN_BYTES 32u

enum frame_type {
  /* runner -> daemon */
  FRAME_HELLO = 'H',       /* secret, u32 pid of the minder, u32 best Landlock ABI */
  FRAME_STARTED = 'S',     /* u32 pid, u32 Landlock ABI in force (0: none), u8 seccomp in force */
  FRAME_FAILED = 'F',      /* u32 errno, text: which step */
  FRAME_STDOUT = 'o',
  FRAME_STDERR = 'e',
  FRAME_STDIN_TAKEN = 't', /* u32 bytes */
  FRAME_FOLDER = 'd',      /* u8: 1 where the program that ended is the one that was started; the folder it ended in */
  FRAME_EXITED = 'X',      /* u32 wait status, u32 processes of it that are still there, u32 memory ran out meanwhile */
  FRAME_GONE = 'G',        /* nothing that the command started is left; u8: 1 where another may be sent here */
  /* daemon -> runner */
  FRAME_SPEC = 's',        /* see spec.c */
  FRAME_STDIN = 'i',
  FRAME_STDIN_END = 'z',
  FRAME_SIGNAL = 'k',      /* u32 signal, u8: 0 the command's process group, 1 everything it started */
  FRAME_RESIZE = 'w',      /* u16 rows, u16 columns */
};

/* What the system call filter refuses on top of what it always does; see seccomp.c. */
enum seccomp_refusal { REFUSE_METADATA = 1, REFUSE_SOCKETS = 2 };

struct spec {
  char **argv;
  char **direct;                /* words to try without a shell first; empty: none */
  char **env;
  char *cwd;
  uid_t uid;
  gid_t gid;
  bool tty;
  uint16_t rows, columns;
  bool stdin_open;
  bool confine;                 /* apply Landlock and seccomp */
  unsigned refusals;            /* of enum seccomp_refusal */
  char **writable;              /* folders and files that may be written below; what is not there is left out */
  const char *way_out;          /* the daemon's socket for what leaves the sandbox; NULL: nothing does */
  const uint8_t *way_out_token; /* what this command's connections show there */
  bool tcp;                     /* TCP at all; the network namespace bounds where to */
  uint64_t file_bytes, open_files; /* resource limits, 0: as inherited */
};

/* frames.c: everything returns false when the peer is gone or breaks the protocol. */
uint32_t get_u32(const uint8_t *at);
void put_u32(uint8_t *at, uint32_t value);
bool write_all(int fd, const void *data, size_t size);
bool read_all(int fd, void *data, size_t size);
bool send_frame(int fd, uint8_t type, const void *payload, uint32_t size);
/* Reads one whole frame; *payload is malloc'ed and one byte longer than *size, with a NUL there. */
bool receive_frame(int fd, uint8_t *type, uint8_t **payload, uint32_t *size);
/* The frame that begins a command. `reused`: what is late for the command before it is passed over. */
bool receive_first(int fd, bool reused, uint8_t *type, uint8_t **payload, uint32_t *size);
void send_failure(int fd, int error_number, const char *what);

/* spec.c: false with a reason in *why when the payload is not a specification. Strings point into payload. */
bool parse_spec(uint8_t *payload, uint32_t size, struct spec *spec, const char **why);
void free_spec(struct spec *spec);

/* landlock.c: the best ABI of this kernel (0: none), and confinement of the calling process. -1 with errno. */
int landlock_abi(void);
int landlock_confine(const struct spec *spec);

/* seccomp.c */
int seccomp_confine(unsigned refusals);

/* tree.c: signals everything below this process; returns how many processes were there. */
int signal_tree(int signal);
/* Kills and reaps until nothing is left below this process. *main_status is set when `main` is reaped here. */
void kill_tree(pid_t main, int *main_status, bool *main_gone);

/* Processes below `root`, at most `max`. */
size_t list_below(pid_t root, pid_t *pids, size_t max);

/* peer.c: whether the other end of a connection over loopback is held by a process below `root`, of that user. */
bool peer_is_below(int connection, pid_t root, uid_t uid, gid_t gid);

/*
 * way-out.c: opens a port for the command and names it in its environment. This process is no subreaper afterwards.
 * The way out is there until the descriptor that it returns is closed; -1 with errno.
 */
int way_out_open(struct spec *spec);

/* memory.c: how many processes of this container the kernel killed for want of memory so far. */
uint32_t memory_kills(void);

/* descriptors.c: closes all from `first` on, at once or when this process becomes another program. */
bool close_from(int first, bool at_exec);

/* streams.c: bytes that can be read without waiting. A descriptor below 0 is none. */
uint32_t readable_now(int fd);
void make_nonblocking(int fd);
/* Nanoseconds of the monotonic clock. */
int64_t now_ns(void);

/* direct.c: becomes the program of spec->direct; returns where that is not what a shell would plainly do. */
void try_directly(const struct spec *spec);

/* folder.c: a child that shares its current folder, root and file mode mask with this process. */
pid_t fork_sharing_folder(void);
/* What the kernel calls a process that runs the program at `path`. */
#define PROGRAM_NAME 16
void program_name(const char *path, char name[PROGRAM_NAME]);
/* Whether a process, also one that has ended and is not reaped, is called so: no other program took its place. */
bool is_program(pid_t pid, const char *name);
/* The current folder in PATH_MAX bytes, and its length; 0: it has no name. */
size_t shared_folder(char *path);
mode_t mode_mask(void);
/* Lets go of the folder of a command that is gone, and of what it made of the mask. */
bool leave_folder(mode_t mask);

/* launch.c: a started command and this side's ends of its streams; -1 where it has none. */
struct launched {
  pid_t pid;
  int in, out, err;
};
/* false: *error_number and *step say what failed. */
bool launch(const struct spec *spec, struct launched *launched, int *error_number, const char **step);

/*
 * minder.c: serves one command on the given descriptors, and returns when nothing of it is left. `reused`: another was
 * served on them before. *again: the daemon was told that it may send another, and mind must be called for it.
 */
int mind(int in_fd, int out_fd, void (*taken)(void), bool reused, bool *again);

#endif
