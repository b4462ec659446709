/* What a minder asks of its streams, and of the clock, while it waits. */
#include "runner.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

uint32_t readable_now(int fd) {
  int bytes = 0;
  return fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0 ? (uint32_t)bytes : 0;
}

void make_nonblocking(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
