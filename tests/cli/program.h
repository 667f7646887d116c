/* program.h: runs the built program as a user would and keeps what it said. */
#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

typedef struct {
  char *out, *err; /* UTF-8 */
  int code;        /* exit code; 128 + signal when one ended it */
} Ran;

/** Takes the program's path from argv[1]; call first. */
void program_init(int *argc, char ***argv);
const char *program_path(void);

/** Runs "tarmac WORD WORD …"; NULL ends the words. Standard input is empty, standard output and error are
 * pipes. Clear with ran_clear(). */
Ran program_run(const char *word, ...) G_GNUC_NULL_TERMINATED;
/** The same from a vector, with a variable of the environment set (NULL: none). */
Ran program_run_env(const char *const *words, const char *variable, const char *value);
void ran_clear(Ran *r);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Ran, ran_clear)

/** The last line of standard output as an object; a failed test when it is none. Unref it. */
JsonObject *ran_json(const Ran *r);

/** Fails the test, showing all that was said, unless the exit code is @code. */
#define assert_code(ran, expected)                                                                           \
  do {                                                                                                       \
    if ((ran).code != (expected))                                                                            \
      g_test_message("exit code %d instead of %d; standard output:\n%s\nstandard error:\n%s", (ran).code,    \
                     (expected), (ran).out, (ran).err);                                                      \
    g_assert_cmpint((ran).code, ==, (expected));                                                             \
  } while (0)
#define assert_says(text, part)                                                                              \
  do {                                                                                                       \
    if (!strstr((text), (part))) g_test_message("“%s” is not in:\n%s", (part), (text));                      \
    g_assert_nonnull(strstr((text), (part)));                                                                \
  } while (0)

/** A new empty folder, removed with all in it at the end of the program. Free the path. */
char *scratch_folder(void);
/** "@folder/@name", with @bytes of @data. */
void scratch_file(const char *folder, const char *name, const void *data, gsize bytes);
