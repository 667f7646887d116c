/* main.c: one program, two faces: a subcommand is the terminal, anything else the studio. */
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include <glib/gi18n.h>

#include "app/cli.h"
#ifdef TM_HAVE_STUDIO
#include "app/studio.h"
#endif

static void set_up_translations(void) {
  setlocale(LC_ALL, "");
  /* Numbers are read and written with a point everywhere: in options, tables and files. */
  setlocale(LC_NUMERIC, "C");
  bindtextdomain(GETTEXT_PACKAGE, TM_LOCALEDIR);
  bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
  textdomain(GETTEXT_PACKAGE);
}

/* GNU OpenMP's threads spin for milliseconds at every barrier. Alone on the machine that gains nothing measurable; beside a browser, the loader
 * or the window it makes a step many times slower, since the spinner keeps the core that the awaited thread needs. The library reads its
 * environment while it is loaded, before main, so the program starts itself once more. */
static void calm_openmp(char **argv) {
  if (g_getenv("GOMP_SPINCOUNT") || g_getenv("OMP_WAIT_POLICY")) return;
  g_setenv("GOMP_SPINCOUNT", "1000", FALSE);
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL); /* by its own name, which top and pidof show */
  if (self) execv(self, argv); /* where that fails, it only runs slower beside others */
}

#ifdef TM_HAVE_STUDIO
/* A folder, the demo roads, an option of the window's or nothing opens the window; so does the session bus when it starts the studio as
 * a service. */
static gboolean wants_studio(int argc, char **argv) {
  static const char *const options[] = {"--size", "--page", "--dark"};
  if (argc < 2) return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(options); i++)
    if (g_str_has_prefix(argv[1], options[i])) return TRUE;
  return strcmp(argv[1], "demo") == 0 || g_file_test(argv[1], G_FILE_TEST_IS_DIR) ||
         strcmp(argv[1], "--gapplication-service") == 0;
}

static gboolean has_display(void) {
  const char *wayland = g_getenv("WAYLAND_DISPLAY"), *x = g_getenv("DISPLAY");
  return (wayland && *wayland) || (x && *x);
}

static int open_studio(int argc, char **argv) {
  if (has_display()) return tm_studio_run(argc, argv);
  g_printerr("%s\n",
             _("tarmac: there is no display (DISPLAY and WAYLAND_DISPLAY are empty), so the studio cannot "
               "open. In the terminal: tarmac train demo. See tarmac --help."));
  return TM_EXIT_FAILED;
}
#endif

int main(int argc, char **argv) {
  calm_openmp(argv);
  set_up_translations();
#ifdef TM_HAVE_STUDIO
  if (wants_studio(argc, argv)) return open_studio(argc, argv);
#endif
  return tm_cli_run(argc, argv);
}
