/* history_csv.h: the two histories as text: comma-separated, a header line, a dot for decimals whatever the
 * locale, an empty cell for NaN. Any thread. */
#pragma once

#include "engine/run/history.h"

/* What a class column begins with, before the class. */
#define TM_IOU_COLUMN "iou "
#define TM_STEPS_HEADER "step,epoch,seconds,loss,lr,grad_norm,loss_scale\n"

/** One line with its end, appended to @out. */
void tm_csv_step(GString *out, const TmStepRow *row);
/** The header names a column for each class: "iou Road". The columns of step times come last; they are for other readers
 * and are not parsed. */
void tm_csv_epoch_header(GString *out, guint n_classes, const char *const *names);
void tm_csv_epoch(GString *out, const TmEpochRow *row, guint n_classes, const double *iou);
/** A cell, quoted where it must be (RFC 4180); control characters become blanks. */
void tm_csv_text(GString *out, const char *text);
/** A number in as few digits as give it back, NaN empty. */
void tm_csv_number(GString *out, double x, int digits);

/** A line without its end. FALSE when it is no row. */
gboolean tm_csv_parse_step(const char *line, TmStepRow *out);
gboolean tm_csv_parse_epoch(const char *line, TmEpochRow *out);
