/* Exactly the processes that a command started: a minder is their subreaper, so all of them stay below it. */
#include "runner.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct process {
  pid_t pid, parent;
  char state;
  bool below;
};

/* Reads pid, state and parent of /proc/PID/stat. The name in it is the command's own choice, so look for its last ')'. */
static bool read_process(const char *name, struct process *process) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%s/stat", name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = 0;
  const char *after = strrchr(text, ')');
  int parent;
  if (after == NULL || sscanf(after + 1, " %c %d", &process->state, &parent) != 2) return false;
  process->pid = atoi(name);
  process->parent = parent;
  process->below = false;
  return true;
}

static struct process *processes;
static size_t capacity;

/* All processes of the container, with `below` set for those below `root`. */
static size_t list_processes(pid_t root) {
  DIR *proc = opendir("/proc");
  if (proc == NULL) return 0;
  size_t count = 0;
  for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (count == capacity) {
      size_t larger = capacity == 0 ? 256 : capacity * 2;
      struct process *grown = realloc(processes, larger * sizeof *grown);
      if (grown == NULL) break;
      processes = grown;
      capacity = larger;
    }
    if (read_process(entry->d_name, &processes[count])) count++;
  }
  closedir(proc);

  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < count; i++) {
      if (processes[i].below) continue;
      bool below = processes[i].parent == root;
      for (size_t j = 0; !below && j < count; j++) below = processes[j].below && processes[j].pid == processes[i].parent;
      if (below) processes[i].below = changed = true;
    }
  }
  return count;
}

size_t list_below(pid_t root, pid_t *pids, size_t max) {
  size_t count = list_processes(root), found = 0;
  for (size_t i = 0; i < count && found < max; i++) {
    if (processes[i].below) pids[found++] = processes[i].pid;
  }
  return found;
}

int signal_tree(int signal) {
  size_t count = list_processes(getpid());
  int found = 0;
  for (size_t i = 0; i < count; i++) {
    if (!processes[i].below || processes[i].state == 'Z') continue;
    found++;
    if (signal != 0) kill(processes[i].pid, signal);
  }
  return found;
}

/* A process that forks faster than it is listed is stopped first: each pass leaves fewer that can fork. */
static void stop_tree(void) {
  for (int pass = 0; pass < 64; pass++) {
    size_t count = list_processes(getpid());
    bool running = false;
    for (size_t i = 0; i < count; i++) {
      if (!processes[i].below || strchr("TZX", processes[i].state) != NULL) continue;
      kill(processes[i].pid, SIGSTOP);
      running = true;
    }
    if (!running) return;
  }
}

void kill_tree(pid_t main, int *main_status, bool *main_gone) {
  for (;;) {
    stop_tree();
    signal_tree(SIGKILL);
    for (;;) {
      int status;
      pid_t gone = waitpid(-1, &status, WNOHANG);
      if (gone < 0) return;
      if (gone == 0) break;
      if (gone == main) {
        *main_status = status;
        *main_gone = true;
      }
    }
    struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
  }
}
