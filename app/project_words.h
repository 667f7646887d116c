/* project_words.h: what a list of projects says about each. Free every string. */
#pragma once

#include "engine/run/project_file.h"

/** "run-2 · mIoU 0.744", "1 204 pictures · 3 runs". */
char *tm_project_words_about(const TmProjectFile *p);
/** "today", "yesterday", "5 days ago", "12 May", "3 March 2024"; @now and @then in Unix seconds. */
char *tm_project_words_age(gint64 then, gint64 now);
