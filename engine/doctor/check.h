/* check.h: one thing that was looked at: a sentence, and where something is wrong the way out. */
#pragma once

#include <glib.h>

typedef enum {
  TM_CHECK_GOOD,
  TM_CHECK_NOTE,    /* not as good as it could be, and nothing is wrong */
  TM_CHECK_WARNING, /* costs time or memory, or a part cannot be used */
  TM_CHECK_BAD,     /* training will not work, or not rightly */
} TmVerdict;

typedef struct {
  const char *id; /* "driver": for machines; static */
  TmVerdict verdict;
  char *title;   /* "The driver and its library have the same version" */
  char *detail;  /* "535.183.01 in both" */
  char *way_out; /* a sentence, or NULL */
  char *command; /* for a terminal, or NULL */
} TmCheck;

/** "good", "note", "warning", "bad": for machines. */
const char *tm_verdict_name(TmVerdict v);
