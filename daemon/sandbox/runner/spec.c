/* The specification of a command: a list of fields, each u8 tag, u32 length, bytes. Unknown tags are refused. */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

/* Fields of one tag are counted first, so that each list is one allocation and its bound is the frame's. */
static size_t count(const uint8_t *payload, uint32_t size, uint8_t tag) {
  size_t found = 0;
  for (uint32_t at = 0; at + 5 <= size; at += 5 + get_u32(payload + at + 1)) {
    if (payload[at] == tag) found++;
  }
  return found;
}

/* Every field must lie inside the frame; checked once, so that the walks above and below need not. */
static bool well_formed(const uint8_t *payload, uint32_t size) {
  uint64_t at = 0;
  while (at < size) {
    if (at + 5 > size) return false;
    at += 5 + (uint64_t)get_u32(payload + at + 1);
  }
  return at == size;
}

bool parse_spec(uint8_t *payload, uint32_t size, struct spec *spec, const char **why) {
  memset(spec, 0, sizeof *spec);
  *why = "not a list of fields";
  if (!well_formed(payload, size)) return false;

  size_t words = count(payload, size, 'a'), variables = count(payload, size, 'e'), writable = count(payload, size, 'w');
  spec->argv = calloc(words + 1, sizeof(char *));
  spec->direct = calloc(count(payload, size, 'p') + 1, sizeof(char *));
  spec->env = calloc(variables + 1, sizeof(char *));
  spec->writable = calloc(writable + 1, sizeof(char *));
  *why = "out of memory";
  if (spec->argv == NULL || spec->direct == NULL || spec->env == NULL || spec->writable == NULL) return false;

  size_t word = 0, direct = 0, variable = 0, folder = 0;
  bool user = false;
  *why = "a field of the wrong length";
  for (uint32_t at = 0; at < size;) {
    uint8_t tag = payload[at];
    uint32_t length = get_u32(payload + at + 1);
    uint8_t *value = payload + at + 5;
    at += 5 + length;
    /* Strings end with a NUL of their own in the frame, and hold no other. */
    bool string = tag == 'a' || tag == 'p' || tag == 'e' || tag == 'w' || tag == 'd';
    if (string && (length == 0 || strnlen((char *)value, length) != length - 1)) return false;
    switch (tag) {
      case 'a': spec->argv[word++] = (char *)value; break;
      case 'p': spec->direct[direct++] = (char *)value; break;
      case 'e': spec->env[variable++] = (char *)value; break;
      case 'w': spec->writable[folder++] = (char *)value; break;
      case 'd': spec->cwd = (char *)value; break;
      case 'u':
        if (length != 8) return false;
        spec->uid = get_u32(value);
        spec->gid = get_u32(value + 4);
        user = true;
        break;
      case 't':
        if (length != 4) return false;
        spec->tty = true;
        spec->rows = (uint16_t)(value[0] | value[1] << 8);
        spec->columns = (uint16_t)(value[2] | value[3] << 8);
        break;
      case 'i': spec->stdin_open = true; break;
      case 'c':
        if (length != 2) return false;
        spec->confine = true;
        spec->tcp = value[1] == 1;
        spec->refusals = (value[0] == 0 ? 0 : REFUSE_METADATA) | (spec->tcp ? 0 : REFUSE_SOCKETS);
        break;
      case 'l':
        if (length != 8) return false;
        spec->file_bytes = (uint64_t)get_u32(value) * 1024;
        spec->open_files = get_u32(value + 4);
        break;
      case 'n':
        if (length <= WAY_OUT_TOKEN_BYTES + 1) return false;
        spec->way_out_token = value;
        spec->way_out = (const char *)value + WAY_OUT_TOKEN_BYTES;
        if (strnlen(spec->way_out, length - WAY_OUT_TOKEN_BYTES) != length - WAY_OUT_TOKEN_BYTES - 1) return false;
        break;
      default: *why = "an unknown field"; return false;
    }
  }
  *why = "no program, folder or user";
  /* Root is refused here as well: a command with the runner's own uid would have no wall before it. */
  return word > 0 && spec->cwd != NULL && user && spec->uid != 0 && spec->gid != 0;
}

void free_spec(struct spec *spec) {
  free(spec->argv);
  free(spec->direct);
  free(spec->env);
  free(spec->writable);
}
