#include "engine/backend/modules.h"

#include <glib/gi18n.h>
#include <gmodule.h>
#include <string.h>

static GMutex lock;
static GHashTable *loaded; /* name -> const TmBackendApi; under the lock */

static char **search_path(void) {
  const char *set = g_getenv("TARMAC_MODULES");
  if (set && *set) return g_strsplit(set, ":", -1);
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *here = program ? g_path_get_dirname(program) : g_strdup(".");
  char **path = g_new0(char *, 3);
  path[0] = g_strdup(here);
  path[1] = g_build_filename(here, "..", "lib", "tarmac", NULL);
  return path;
}

static const TmBackendApi *load(const char *file, const char *name, GError **error) {
  GModule *module = g_module_open(file, G_MODULE_BIND_LOCAL);
  if (!module) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("The module %s cannot be loaded: %s."), file,
                g_module_error());
    return NULL;
  }
  gpointer symbol = NULL;
  if (!g_module_symbol(module, "tm_backend_module", &symbol) || !symbol) {
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED, _("%s is not a module of Tarmac."), file);
  } else {
    const TmBackendApi *api = symbol;
    if (api->version == TM_BACKEND_VERSION && strcmp(api->name, name) == 0) {
      g_module_make_resident(module);
      return api;
    }
    g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
                _("%s is of another version of Tarmac (its interface is %u, this program's is %d). Install "
                  "both from one release."),
                file, api->version, TM_BACKEND_VERSION);
  }
  g_module_close(module);
  return NULL;
}

static const TmBackendApi *find(const char *name, GError **error) {
  g_auto(GStrv) path = search_path();
  g_autofree char *base = g_strdup_printf("tarmac-%s.so", name);
  for (char **folder = path; *folder; folder++) {
    g_autofree char *file = g_build_filename(*folder, base, NULL);
    if (g_file_test(file, G_FILE_TEST_EXISTS)) return load(file, name, error);
  }
  g_autofree char *folders = g_strjoinv(", ", path);
  g_set_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED,
              _("The module %s is not installed; it was looked for in %s."), base, folders);
  return NULL;
}

const TmBackendApi *tm_backend_module_find(const char *name, GError **error) {
  g_mutex_lock(&lock);
  if (!loaded) loaded = g_hash_table_new(g_str_hash, g_str_equal);
  const TmBackendApi *api = g_hash_table_lookup(loaded, name);
  if (!api && (api = find(name, error))) g_hash_table_insert(loaded, (gpointer)api->name, (gpointer)api);
  g_mutex_unlock(&lock);
  return api;
}
