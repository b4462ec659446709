/* Frames on the wire: reading and writing them whole. */
#include "runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <poll.h>
#include <unistd.h>

uint32_t get_u32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void put_u32(uint8_t *at, uint32_t value) {
  for (int byte = 0; byte < 4; byte++) at[byte] = (uint8_t)(value >> (8 * byte));
}

/* Descriptors may be non-blocking (a docker exec's pipes are what the engine made them): wait where they would block. */
static bool wait_for(int fd, short events) {
  struct pollfd ready = {.fd = fd, .events = events};
  return errno == EINTR || ((errno == EAGAIN || errno == EWOULDBLOCK) && (poll(&ready, 1, -1) > 0 || errno == EINTR));
}

bool write_all(int fd, const void *data, size_t size) {
  const uint8_t *at = data;
  while (size > 0) {
    ssize_t written = write(fd, at, size);
    if (written < 0) {
      if (wait_for(fd, POLLOUT)) continue;
      return false;
    }
    at += written;
    size -= (size_t)written;
  }
  return true;
}

bool read_all(int fd, void *data, size_t size) {
  uint8_t *at = data;
  while (size > 0) {
    ssize_t got = read(fd, at, size);
    if (got < 0 && wait_for(fd, POLLIN)) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

bool send_frame(int fd, uint8_t type, const void *payload, uint32_t size) {
  uint8_t head[FRAME_HEAD];
  put_u32(head, size);
  head[4] = type;
  struct iovec parts[2] = {{head, FRAME_HEAD}, {(void *)(uintptr_t)payload, size}};
  ssize_t written;
  do {
    written = writev(fd, parts, size > 0 ? 2 : 1);
  } while (written < 0 && wait_for(fd, POLLOUT));
  if (written < 0) return false;
  size_t done = (size_t)written;
  if (done < FRAME_HEAD) {
    if (!write_all(fd, head + done, FRAME_HEAD - done)) return false;
    done = FRAME_HEAD;
  }
  return write_all(fd, (const uint8_t *)payload + (done - FRAME_HEAD), size - (done - FRAME_HEAD));
}

bool receive_frame(int fd, uint8_t *type, uint8_t **payload, uint32_t *size) {
  uint8_t head[FRAME_HEAD];
  if (!read_all(fd, head, FRAME_HEAD)) return false;
  *size = get_u32(head);
  *type = head[4];
  if (*size > FRAME_MAX) return false;
  *payload = malloc((size_t)*size + 1);
  if (*payload == NULL) return false;
  if (!read_all(fd, *payload, *size)) {
    free(*payload);
    return false;
  }
  (*payload)[*size] = 0;
  return true;
}

/* What was sent for the last command before the daemon heard that it is gone. */
static bool is_late(uint8_t type) {
  return type == FRAME_STDIN || type == FRAME_STDIN_END || type == FRAME_SIGNAL || type == FRAME_RESIZE;
}

bool receive_first(int fd, bool reused, uint8_t *type, uint8_t **payload, uint32_t *size) {
  while (receive_frame(fd, type, payload, size)) {
    if (!reused || !is_late(*type)) return true;
    free(*payload);
  }
  return false;
}

void send_failure(int fd, int error_number, const char *what) {
  size_t size = strlen(what);
  uint8_t payload[4 + 128];
  if (size > 128) size = 128;
  put_u32(payload, (uint32_t)error_number);
  memcpy(payload + 4, what, size);
  send_frame(fd, FRAME_FAILED, payload, (uint32_t)(4 + size));
}
