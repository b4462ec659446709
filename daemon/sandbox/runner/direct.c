/* Runs one plain command as bash would, without bash: the program found in PATH, with the variables that bash adds. */
#include "runner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "NAME=" must be the whole of the name: bash would keep what is there, in its own way. */
static bool has(char *const *env, const char *name) {
  for (size_t i = 0; env[i] != NULL; i++) {
    if (strncmp(env[i], name, strlen(name)) == 0) return true;
  }
  return false;
}

static const char *value_of(char *const *env, const char *name) {
  for (size_t i = 0; env[i] != NULL; i++) {
    if (strncmp(env[i], name, strlen(name)) == 0) return env[i] + strlen(name);
  }
  return NULL;
}

/*
 * Returns where anything is not as plain as it looks (no such program, a script without an interpreter's line, a folder
 * of that name, a PATH that is relative): bash then does what bash does, with its own words and exit code.
 */
void try_directly(const struct spec *spec) {
  static char pwd[PATH_MAX + 8] = "PWD=", program[PATH_MAX + 8] = "_=";
  const char *path = value_of(spec->env, "PATH=");
  if (path == NULL || has(spec->env, "PWD=") || has(spec->env, "SHLVL=") || has(spec->env, "_=")) return;
  if (getcwd(pwd + 4, PATH_MAX) == NULL || pwd[4] != '/') return;

  size_t count = 0;
  while (spec->env[count] != NULL) count++;
  char **env = calloc(count + 4, sizeof *env);
  if (env == NULL) return;
  memcpy(env, spec->env, count * sizeof *env);
  env[count] = pwd;
  env[count + 1] = "SHLVL=0";
  env[count + 2] = program;

  for (const char *folder = path; folder != NULL;) {
    const char *end = strchr(folder, ':');
    int length = (int)(end == NULL ? strlen(folder) : (size_t)(end - folder));
    if (folder[0] != '/') return;
    const char *slash = folder[length - 1] == '/' ? "" : "/";
    int size = snprintf(program + 2, PATH_MAX, "%.*s%s%s", length, folder, slash, spec->direct[0]);
    if (size >= PATH_MAX) return;
    execve(program + 2, spec->direct, env);
    /* Anything but "not here" is for bash to look at. */
    if (errno != ENOENT && errno != ENOTDIR) return;
    folder = end == NULL ? NULL : end + 1;
  }
}
