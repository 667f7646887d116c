/* run_words.h: where a run stands, in words: the header's subtitle, the first button, the message above the
 * cards. Pure functions over a snapshot. */
#pragma once

#include "engine/train/trainer.h"
#include "ui/notice.h"

/** "Epoch 12 of 40 · 6 min left". Free it. */
char *tm_run_subtitle(const TmSnapshot *s);
/** 0..1. */
double tm_run_share_done(const TmSnapshot *s);
/** What the first button does now: its translated label and icon; static. */
const char *tm_run_go_label(const TmSnapshot *s, const char **icon);

typedef struct {
  TmNoticeKind kind;
  const char *icon;                                        /* static; NULL: the kind's own */
  char *strong, *rest;                                     /* owned; strong NULL: nothing to tell */
  const char *label, *action, *other_label, *other_action; /* static; NULL: none */
} TmRunMessage;

void tm_run_message(const TmSnapshot *s, TmRunMessage *out);
void tm_run_message_clear(TmRunMessage *m);
/** "Epoch 8 of 30" for the sidebar's badge: "8/30"; NULL when there is nothing to tell. Free it. */
char *tm_run_badge(const TmSnapshot *s);
