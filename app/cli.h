/* cli.h: the command line: what all subcommands share. Main thread only. */
#pragma once

#include <json-glib/json-glib.h>

#include "engine/core/error.h"

/* Exit codes. After SIGINT and SIGTERM: 130 and 143, as a shell would say it. */
enum { TM_EXIT_OK = 0, TM_EXIT_FAILED = 1, TM_EXIT_USAGE = 2, TM_EXIT_SIGNAL = 128 };

typedef struct {
  const char *name;     /* "train" */
  const char *operands; /* N_("DATASET|demo"), after the options in the usage line; may be empty */
  const char *summary;  /* N_(): one line for the list of commands */
  const char *detail;   /* N_(): a paragraph above the options, with examples, one a line, indented by two */
  int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
} TmCommand;

extern const TmCommand tm_command_train, tm_command_evaluate, tm_command_predict, tm_command_inspect,
    tm_command_doctor, tm_command_bench;

/** Runs the subcommand argv[1] names and returns the exit code. */
int tm_cli_run(int argc, char **argv);

/** Parses the options of @c from @argv by @entries (ended by a NULL entry) and @groups (NULL-terminated or
 * NULL; taken), and leaves the operands, of which there must be @least to @most, in @operands (free with
 * g_strfreev()). FALSE when the program should end with *@exit_code: help was asked for, or the words make no
 * sense, which has then been said. */
gboolean tm_cli_parse(const TmCommand *c, const GOptionEntry *entries, GOptionGroup **groups, int argc,
                      char **argv, guint least, guint most, char ***operands, int *exit_code);

/** Prints "tarmac: …" with the error's sentence to standard error and returns @exit_code. */
int tm_cli_fail(const GError *error, int exit_code) G_GNUC_WARN_UNUSED_RESULT;
/** The same with a sentence, for wrong usage: adds where help is. Returns TM_EXIT_USAGE. */
int tm_cli_usage(const TmCommand *c, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Parses "480x360" or "360x480" style WxH / HxW text into two extents of 1..65535, in the order written. */
gboolean tm_cli_extent(const char *text, int *first, int *second);
/** The number, or null where it is NaN or infinite: JSON has neither. */
void tm_cli_json_number(JsonObject *o, const char *member, double value);
/** Prints @o as one line to standard output, preceded by nothing else on it; takes @o. */
void tm_cli_json_print(JsonObject *o);
/** Largest resident set of this process so far, MiB. */
double tm_cli_peak_rss_mb(void);
