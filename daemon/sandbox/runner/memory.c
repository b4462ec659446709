/* Whether memory ran out: the container's own count of processes that the kernel killed for it. */
#include "runner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of cgroup v2 and v1, as a container sees its own. */
static const char *const sources[] = {"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"};

uint32_t memory_kills(void) {
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    char text[512];
    int fd = open(sources[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0) continue;
    text[size] = 0;
    const char *line = strstr(text, "oom_kill ");
    if (line != NULL) return (uint32_t)strtoul(line + strlen("oom_kill "), NULL, 10);
  }
  return 0;
}
