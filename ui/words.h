/* words.h: numbers as a person reads them: times left, counts, sizes, rates. Every string is translated, new,
 * and freed by the caller. A value that is not known (NAN) becomes "–", never 0. Any thread. */
#pragma once

#include <glib.h>

/** "701", "12 478" (thin space between thousands). */
char *tm_words_count(guint64 n);
/** "0.00043", "0.617", "12.4": three significant digits, no exponent between 1e-5 and 1e7. */
char *tm_words_value(double v);
/** "6 min left", "19 s left", "1 h 20 min left"; NULL when @seconds is not known. */
char *tm_words_left(double seconds);
/** "6 min 12 s", "19 s", "1 h 20 min". */
char *tm_words_duration(double seconds);
/** "3.1 GB", "412 MB". */
char *tm_words_bytes(double bytes);
/** "82 ms", "0.4 ms", "1.24 s". */
char *tm_words_span(double seconds);
/** "62 %", "4.2 %" below ten. @share 0..1. */
char *tm_words_percent(double share);
