#include "engine/core/machine_cache.h"

struct _TmMachineCache {
  char *path, *machine;
  GKeyFile *known;
};

TmMachineCache *tm_machine_cache_new(const char *file, const char *machine) {
  TmMachineCache *c = g_new0(TmMachineCache, 1);
  c->path = g_build_filename(g_get_user_cache_dir(), "tarmac", file, NULL);
  c->machine = g_strdelimit(g_strdup(machine), "[]\n", '_');
  c->known = g_key_file_new();
  g_key_file_load_from_file(c->known, c->path, G_KEY_FILE_NONE, NULL);
  return c;
}

void tm_machine_cache_free(TmMachineCache *c) {
  if (!c) return;
  g_key_file_free(c->known);
  g_free(c->path);
  g_free(c->machine);
  g_free(c);
}

char *tm_machine_cache_get(const TmMachineCache *c, const char *key) {
  return g_key_file_get_string(c->known, c->machine, key, NULL);
}

void tm_machine_cache_set(TmMachineCache *c, const char *key, const char *value) {
  g_key_file_set_string(c->known, c->machine, key, value);
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_key_file_load_from_file(file, c->path, G_KEY_FILE_NONE, NULL);
  g_key_file_set_string(file, c->machine, key, value);
  g_autofree char *folder = g_path_get_dirname(c->path);
  if (g_mkdir_with_parents(folder, 0700) == 0) g_key_file_save_to_file(file, c->path, NULL);
}
