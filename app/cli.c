#include "app/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <glib/gi18n.h>

static const TmCommand *const commands[] = {&tm_command_train,   &tm_command_evaluate, &tm_command_predict,
                                            &tm_command_inspect, &tm_command_doctor,   &tm_command_bench};

static const TmCommand *find_command(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static gboolean is_help(const char *word) {
  return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static gboolean is_version(const char *word) {
  return strcmp(word, "--version") == 0 || strcmp(word, "version") == 0;
}

static void print_help(void) {
  g_print("%s\n  tarmac                      %s\n  tarmac %s [%s]  %s\n\n%s\n", _("Usage:"),
          _("open the studio"), _("COMMAND"), _("OPTION…"), _("work in the terminal"), _("Commands:"));
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    g_print("  %-10s %s\n", commands[i]->name, _(commands[i]->summary));
  g_print("\n%s\n", _("Help on one of them: tarmac COMMAND --help\n"
                      "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 and 143 stopped by a signal "
                      "(training is saved first)."));
}

static void print_version(void) {
  g_print("tarmac %s%s%s\n", TM_VERSION,
#ifdef TM_HAVE_STUDIO
          " studio",
#else
          "",
#endif
#ifdef TM_HAVE_ONEDNN
          " onednn"
#else
          ""
#endif
  );
}

/* The command a mistyped one is nearest to: one that begins with it, or that it differs from in a letter or a
 * swap. */
static const char *nearest_command(const char *word) {
  gsize length = strlen(word);
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
    const char *name = commands[i]->name;
    guint same = 0;
    for (const char *c = word; *c; c++) same += strchr(name, *c) != NULL;
    if (length >= 2 && (g_str_has_prefix(name, word) || g_str_has_prefix(word, name))) return name;
    if (length + 1 >= strlen(name) && length <= strlen(name) + 1 && same + 1 >= length && word[0] == name[0])
      return name;
  }
  return NULL;
}

int tm_cli_run(int argc, char **argv) {
  if (argc < 2) {
    print_help();
    g_printerr("\n%s\n", _("tarmac: this build has no studio, so a command is needed."));
    return TM_EXIT_USAGE;
  }
  const TmCommand *command = find_command(argv[1]);
  if (command) return command->run(argc - 1, argv + 1);
  if (is_version(argv[1])) {
    print_version();
    return TM_EXIT_OK;
  }
  if (is_help(argv[1])) {
    const TmCommand *about = argc > 2 ? find_command(argv[2]) : NULL;
    char *help[] = {argc > 2 ? argv[2] : NULL, (char *)"--help", NULL};
    if (about) return about->run(2, help);
    print_help();
    return TM_EXIT_OK;
  }
  const char *near = argv[1][0] == '-' ? NULL : nearest_command(argv[1]);
  if (argv[1][0] == '-')
    g_printerr(_("tarmac: there is no option “%s”; a command comes first. See tarmac --help.\n"), argv[1]);
  else if (near)
    g_printerr(_("tarmac: there is no command “%s”; did you mean “%s”? See tarmac --help.\n"), argv[1], near);
  else
    g_printerr(_("tarmac: there is no command “%s”. See tarmac --help.\n"), argv[1]);
  return TM_EXIT_USAGE;
}

int tm_cli_fail(const GError *error, int exit_code) {
  g_printerr("tarmac: %s\n", error ? error->message : _("it failed without saying why"));
  return exit_code;
}

int tm_cli_usage(const TmCommand *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  g_printerr("tarmac %s: %s\n", c->name, text);
  g_printerr(_("See tarmac %s --help.\n"), c->name);
  return TM_EXIT_USAGE;
}

/* GLib's own --help would list the groups without their options, so the flag is ours and prints everything.
 */
static gboolean help_wanted(GOptionContext *context, gboolean wanted) {
  if (!wanted) return FALSE;
  g_autofree char *text = g_option_context_get_help(context, FALSE, NULL);
  g_print("%s", text);
  return TRUE;
}

gboolean tm_cli_parse(const TmCommand *c, const GOptionEntry *entries, GOptionGroup **groups, int argc,
                      char **argv, guint least, guint most, char ***operands, int *exit_code) {
  gboolean help = FALSE;
  char **rest = NULL;
  const GOptionEntry own[] = {
      {"help", 'h', 0, G_OPTION_ARG_NONE, &help, N_("Show this help"), NULL},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL},
      {NULL},
  };
  g_autoptr(GOptionContext) context = g_option_context_new(*c->operands ? _(c->operands) : NULL);
  g_option_context_set_help_enabled(context, FALSE);
  g_option_context_set_translation_domain(context, GETTEXT_PACKAGE);
  g_option_context_set_summary(context, _(c->detail));
  g_option_context_add_main_entries(context, entries, GETTEXT_PACKAGE);
  g_option_context_add_main_entries(context, own, GETTEXT_PACKAGE);
  for (guint i = 0; groups && groups[i]; i++) g_option_context_add_group(context, groups[i]);

  /* The usage line should read "tarmac train", not the path of the binary. */
  g_autofree char *name = g_strdup_printf("tarmac %s", c->name);
  g_set_prgname(name);
  g_auto(GStrv) words = g_new0(char *, argc + 1);
  for (int i = 0; i < argc; i++) words[i] = g_strdup(argv[i]);
  g_autoptr(GError) error = NULL;
  gboolean parsed = g_option_context_parse_strv(context, &words, &error);
  g_auto(GStrv) found = rest ? rest : g_new0(char *, 1);
  if (!parsed) {
    *exit_code = tm_cli_usage(c, "%s", error->message);
    return FALSE;
  }
  if (help_wanted(context, help)) {
    *exit_code = TM_EXIT_OK;
    return FALSE;
  }
  guint n = g_strv_length(found);
  if (n < least) {
    *exit_code = tm_cli_usage(c, _("%s is missing."), n == 0 && least == 1 ? _(c->operands) : _("something"));
    return FALSE;
  }
  if (n > most) {
    *exit_code = tm_cli_usage(c, _("“%s” is one word too many."), found[most]);
    return FALSE;
  }
  *operands = g_steal_pointer(&found);
  return TRUE;
}

gboolean tm_cli_extent(const char *text, int *first, int *second) {
  char *end;
  guint64 a = g_ascii_strtoull(text, &end, 10);
  if (end == text || (*end != 'x' && *end != 'X') || a < 1 || a > 65535) return FALSE;
  const char *rest = end + 1;
  guint64 b = g_ascii_strtoull(rest, &end, 10);
  if (end == rest || *end || b < 1 || b > 65535) return FALSE;
  *first = (int)a;
  *second = (int)b;
  return TRUE;
}

void tm_cli_json_number(JsonObject *o, const char *member, double value) {
  if (isfinite(value))
    json_object_set_double_member(o, member, value);
  else
    json_object_set_null_member(o, member);
}

void tm_cli_json_print(JsonObject *o) {
  g_autoptr(JsonNode) node = json_node_alloc();
  json_node_init_object(node, o);
  json_object_unref(o);
  g_autofree char *text = json_to_string(node, FALSE);
  fflush(stderr);
  g_print("%s\n", text);
}

double tm_cli_peak_rss_mb(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024 : NAN;
}
