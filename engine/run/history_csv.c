#include "engine/run/history_csv.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 9 }; /* give every float back */

void tm_csv_number(GString *out, double x, int digits) {
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  if (isnan(x)) return;
  if (isinf(x)) {
    g_string_append(out, x > 0 ? "inf" : "-inf");
    return;
  }
  g_snprintf(format, sizeof format, "%%.%dg", digits);
  g_string_append(out, g_ascii_formatd(text, sizeof text, format, x));
}

void tm_csv_text(GString *out, const char *text) {
  const gboolean quote = strpbrk(text, ",\"\r\n") != NULL;
  if (quote) g_string_append_c(out, '"');
  for (const char *p = text; *p; p++) {
    if (*p == '"') g_string_append_c(out, '"');
    g_string_append_c(out, (guchar)*p < 0x20 || *p == 0x7f ? ' ' : *p);
  }
  if (quote) g_string_append_c(out, '"');
}

static void add_float(GString *out, float x) {
  g_string_append_c(out, ',');
  tm_csv_number(out, x, DIGITS);
}

void tm_csv_step(GString *out, const TmStepRow *r) {
  g_string_append_printf(out, "%" G_GUINT64_FORMAT, r->step);
  add_float(out, r->epoch);
  add_float(out, r->seconds);
  add_float(out, r->loss);
  add_float(out, r->lr);
  add_float(out, r->grad_norm);
  add_float(out, r->loss_scale > 0 ? r->loss_scale : NAN);
  g_string_append_c(out, '\n');
}

void tm_csv_epoch_header(GString *out, guint n_classes, const char *const *names) {
  g_string_append(out, "epoch,step,seconds,train_loss,val_loss,miou,accuracy,best");
  for (guint i = 0; i < n_classes; i++) {
    g_autofree char *column = g_strconcat(TM_IOU_COLUMN, names[i], NULL);
    g_string_append_c(out, ',');
    tm_csv_text(out, column);
  }
  g_string_append(out, ",step_s,wait_s,decode_s,augment_s,upload_s,network_s,forward_s,update_s,draw_s\n");
}

void tm_csv_epoch(GString *out, const TmEpochRow *r, guint n_classes, const double *iou) {
  g_string_append_printf(out, "%u,%" G_GUINT64_FORMAT, r->epoch, r->step);
  add_float(out, r->seconds);
  add_float(out, r->train_loss);
  add_float(out, r->val_loss);
  add_float(out, r->miou);
  add_float(out, r->accuracy);
  g_string_append_printf(out, ",%d", r->best ? 1 : 0);
  for (guint i = 0; i < n_classes; i++) add_float(out, (float)iou[i]);
  const TmStepTimes *t = &r->times;
  const double times[] = {t->step,    t->wait,    t->decode, t->augment, t->upload,
                          t->network, t->forward, t->update, t->draw};
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    g_string_append_c(out, ',');
    tm_csv_number(out, times[i], 4);
  }
  g_string_append_c(out, '\n');
}

/* ---- reading ---- */

static gboolean get_count(const char **p, guint64 most, guint64 *out) {
  char *end;
  if (!g_ascii_isdigit(**p)) return FALSE;
  *out = g_ascii_strtoull(*p, &end, 10);
  *p = end;
  return *out <= most;
}

static gboolean get_comma(const char **p) {
  return *(*p)++ == ',';
}

static gboolean get_float(const char **p, float *out) {
  char *end;
  *out = NAN;
  if (**p == ',' || **p == '\0' || **p == '\r') return TRUE;
  *out = (float)g_ascii_strtod(*p, &end);
  if (end == *p) return FALSE;
  *p = end;
  return TRUE;
}

static gboolean get_floats(const char **p, guint n, float *const *out) {
  for (guint i = 0; i < n; i++)
    if (!get_comma(p) || !get_float(p, out[i])) return FALSE;
  return TRUE;
}

static gboolean at_end(const char *p) {
  return *p == '\0' || *p == '\r';
}

/* Files of before f16 lack the column. */
static gboolean get_loss_scale(const char **p, float *out) {
  *out = 0;
  if (at_end(*p)) return TRUE;
  if (!get_comma(p) || !get_float(p, out)) return FALSE;
  if (isnan(*out)) *out = 0;
  return TRUE;
}

gboolean tm_csv_parse_step(const char *p, TmStepRow *r) {
  return get_count(&p, G_MAXUINT64, &r->step) &&
         get_floats(&p, 5, (float *const[]){&r->epoch, &r->seconds, &r->loss, &r->lr, &r->grad_norm}) &&
         get_loss_scale(&p, &r->loss_scale) && at_end(p);
}

gboolean tm_csv_parse_epoch(const char *p, TmEpochRow *r) {
  guint64 epoch, best;
  if (!get_count(&p, G_MAXUINT, &epoch) || !get_comma(&p) || !get_count(&p, G_MAXUINT64, &r->step) ||
      !get_floats(&p, 5,
                  (float *const[]){&r->seconds, &r->train_loss, &r->val_loss, &r->miou, &r->accuracy}) ||
      !get_comma(&p) || !get_count(&p, 1, &best))
    return FALSE;
  r->epoch = (guint)epoch;
  r->times = (TmStepTimes){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  r->best = best == 1;
  return at_end(p) || *p == ',';
}
