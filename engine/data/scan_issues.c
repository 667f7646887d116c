#include "engine/data/scan_issues.h"

#include <glib/gi18n.h>

#include "engine/data/split.h"

/* A class with less than this share of the pixels is rare. */
#define RARE 0.01
/* Of the pictures, where the dataset has no share of its own to keep. */
#define VAL_SHARE 0.2

static void issue_free(gpointer p) {
  TmIssue *i = p;
  g_free(i->text);
  g_free(i->follows);
  g_free(i->value_text);
  g_array_unref(i->entries);
  if (i->told) g_ptr_array_unref(i->told);
  g_free(i);
}

static TmIssue *issue_new(TmIssueLevel level, TmFix fix) {
  TmIssue *i = g_new0(TmIssue, 1);
  *i = (TmIssue){.level = level, .fix = fix, .entries = g_array_new(FALSE, FALSE, sizeof(guint))};
  return i;
}

/* ---- by file ---- */

/* Takes over @text and @follows; nothing when no picture is concerned. */
static void add(GPtrArray *all, TmIssue *i, char *text, const char *follows) {
  i->text = text;
  i->follows = g_strdup(follows);
  if (i->entries->len)
    g_ptr_array_add(all, i);
  else
    issue_free(i);
}

static TmIssue *collect(const TmScan *s, TmFindingKind kind, gboolean leaves_out, TmIssueLevel level) {
  TmIssue *i = issue_new(level, leaves_out ? TM_FIX_LEAVE_OUT : TM_FIX_NONE);
  i->told = g_ptr_array_new_with_free_func(g_free);
  for (guint k = 0; k < s->findings->len; k++) {
    const TmFinding *f = s->findings->pdata[k];
    if (f->kind != kind || f->entry == G_MAXUINT || f->leaves_out != leaves_out) continue;
    g_array_append_val(i->entries, f->entry);
    g_ptr_array_add(i->told, g_strdup(f->text));
  }
  return i;
}

static char *counted(const TmIssue *i, const char *one, const char *many) {
  return g_strdup_printf("%u %s", i->entries->len, i->entries->len == 1 ? one : many);
}

static void add_files(GPtrArray *all, const TmScan *s) {
  TmIssue *i = collect(s, TM_FINDING_UNREADABLE, TRUE, TM_ISSUE_ERROR);
  add(all, i, counted(i, _("picture or mask cannot be read"), _("pictures or masks cannot be read")),
      _("Cut, damaged or of another kind; not trained on"));
  i = collect(s, TM_FINDING_SIZE, TRUE, TM_ISSUE_WARNING);
  add(all, i,
      counted(i, _("mask has another size than its picture"),
              _("masks have another size than their pictures")),
      _("Nothing is stretched; not trained on"));
  i = collect(s, TM_FINDING_NO_MASK, TRUE, TM_ISSUE_WARNING);
  add(all, i, counted(i, _("picture has no mask"), _("pictures have no mask")), _("Not trained on"));
  i = collect(s, TM_FINDING_ANTIALIASED, TRUE, TM_ISSUE_WARNING);
  add(all, i,
      counted(i, _("mask looks smoothed or lossily compressed"),
              _("masks look smoothed or lossily compressed")),
      _("Most values lie between classes; not trained on"));
  i = collect(s, TM_FINDING_ANTIALIASED, FALSE, TM_ISSUE_WARNING);
  add(all, i, counted(i, _("mask has smoothed edges"), _("masks have smoothed edges")),
      _("What lies between classes is read as void"));
  i = collect(s, TM_FINDING_ALL_VOID, TRUE, TM_ISSUE_WARNING);
  add(all, i, counted(i, _("mask is void everywhere"), _("masks are void everywhere")),
      _("There is nothing to learn from them"));
  i = collect(s, TM_FINDING_ALL_VOID, FALSE, TM_ISSUE_HINT);
  add(all, i, counted(i, _("mask is more than half void"), _("masks are more than half void")),
      _("Void is outside the loss and every score"));
}

/* ---- by value ---- */

static int by_value(gconstpointer a, gconstpointer b) {
  const TmIssue *x = *(TmIssue *const *)a, *y = *(TmIssue *const *)b;
  return (x->value > y->value) - (x->value < y->value);
}

static char *value_text(const TmClassTable *t, gint32 v) {
  if (t->code == TM_MASK_INDEX) return g_strdup_printf(_("value %d"), v);
  if (v < 0) return g_strdup(_("a value without a colour"));
  return g_strdup_printf(_("colour %u %u %u"), (guint)v >> 16 & 0xff, (guint)v >> 8 & 0xff, (guint)v & 0xff);
}

static void add_values(GPtrArray *all, const TmScan *s, const TmDataset *d) {
  g_autoptr(GHashTable) by = g_hash_table_new(NULL, NULL);
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  const TmClassTable *t = tm_dataset_classes(d);
  for (guint i = 0; i < s->n_entries; i++) {
    const GArray *unknown = s->leave_out[i] ? NULL : s->entries[i].unknown;
    for (guint k = 0; unknown && k < unknown->len; k++) {
      const TmUnknown *u = &g_array_index(unknown, TmUnknown, k);
      TmIssue *issue = g_hash_table_lookup(by, GINT_TO_POINTER(u->value));
      if (!issue) {
        issue = issue_new(TM_ISSUE_WARNING, u->value >= 0 ? TM_FIX_MAP_VOID : TM_FIX_NONE);
        issue->value = u->value;
        issue->told = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(by, GINT_TO_POINTER(u->value), issue);
        g_ptr_array_add(found, issue);
      }
      g_array_append_val(issue->entries, i);
      g_ptr_array_add(issue->told, g_strdup_printf(ngettext("%u pixel", "%u pixels", u->pixels), u->pixels));
    }
  }
  g_ptr_array_sort(found, by_value);
  for (guint k = 0; k < found->len; k++) {
    TmIssue *issue = found->pdata[k];
    issue->value_text = value_text(t, issue->value);
    add(all, issue,
        g_strdup_printf(ngettext("%u mask holds %s", "%u masks hold %s", issue->entries->len),
                        issue->entries->len, issue->value_text),
        _("Not in the class table; read as void until fixed"));
  }
}

/* ---- about the whole ---- */

static void add_leak(GPtrArray *all, const TmAlikeness *a, const TmDataset *d) {
  if (!a || !a->n_across) return;
  TmIssue *i = issue_new(TM_ISSUE_WARNING, TM_FIX_BY_SEQUENCE);
  i->told = g_ptr_array_new_with_free_func(g_free);
  for (guint k = 0; k < a->n; k++) {
    const TmAlike *x = &a->across[k];
    if (x->other == G_MAXUINT || tm_dataset_entry(d, k)->split == TM_SPLIT_TRAIN) continue;
    g_array_append_val(i->entries, k);
    g_ptr_array_add(i->told, g_strdup_printf(_("Looks like %s of training, %.0f %% alike"),
                                             tm_dataset_entry(d, x->other)->name, (double)x->alike * 100));
  }
  add(all, i,
      g_strdup_printf(
          ngettext("%u near-duplicate crosses splits", "%u near-duplicates cross splits", a->n_across),
          a->n_across),
      _("A neighbour in training makes scores look better than they are"));
}

static void add_classes(GPtrArray *all, const TmScan *s, const TmDataset *d) {
  const TmClassTable *t = tm_dataset_classes(d);
  guint64 total = 0;
  for (guint c = 0; c < t->n; c++) total += s->pixels[TM_SPLIT_TRAIN][c];
  guint rare = 0, rarest = 0;
  for (guint c = 0; c < t->n && total; c++) {
    const guint64 n = s->pixels[TM_SPLIT_TRAIN][c];
    if (n == 0 || (double)n >= RARE * (double)total) continue;
    if (!rare++ || n < s->pixels[TM_SPLIT_TRAIN][rarest]) rarest = c;
  }
  if (rare) {
    TmIssue *i = issue_new(TM_ISSUE_HINT, TM_FIX_WEIGHTS);
    const double share = 100.0 * (double)s->pixels[TM_SPLIT_TRAIN][rarest] / (double)total;
    i->text = rare == 1 ? g_strdup_printf(_("%s covers %.1f %% of pixels"), t->classes[rarest].name, share)
                        : g_strdup_printf(_("%u classes are rare, %s has %.1f %% of pixels"), rare,
                                          t->classes[rarest].name, share);
    i->follows = g_strdup(_("Median class weights would balance it"));
    g_ptr_array_add(all, i);
  }
  for (guint k = 0; k < s->findings->len; k++) {
    const TmFinding *f = s->findings->pdata[k];
    if (f->kind != TM_FINDING_CLASS_ABSENT) continue;
    TmIssue *i = issue_new(TM_ISSUE_HINT, TM_FIX_NONE);
    i->text = g_strdup(f->text);
    g_ptr_array_add(all, i);
  }
}

static int by_level(gconstpointer a, gconstpointer b, gpointer order) {
  GHashTable *place = order;
  const TmIssue *x = *(TmIssue *const *)a, *y = *(TmIssue *const *)b;
  if (x->level != y->level) return (int)x->level - (int)y->level;
  return GPOINTER_TO_INT(g_hash_table_lookup(place, x)) - GPOINTER_TO_INT(g_hash_table_lookup(place, y));
}

GPtrArray *tm_scan_issues(const TmScan *s, const TmDataset *d, const TmAlikeness *alike) {
  GPtrArray *all = g_ptr_array_new_with_free_func(issue_free);
  add_files(all, s);
  add_values(all, s, d);
  add_leak(all, alike, d);
  add_classes(all, s, d);
  g_autoptr(GHashTable) place = g_hash_table_new(NULL, NULL); /* the sort is not stable by itself */
  for (guint i = 0; i < all->len; i++) g_hash_table_insert(place, all->pdata[i], GUINT_TO_POINTER(i));
  g_ptr_array_sort_with_data(all, by_level, place);
  return all;
}

/* ---- fixing ---- */

static double share(const TmDataset *d, TmSplit s) {
  return (double)tm_dataset_n_split(d, s) / MAX(tm_dataset_n(d), 1);
}

gboolean tm_issue_fix(const TmIssue *issue, const TmDataset *base, const TmDataset *d, TmAmend *a) {
  switch (issue->fix) {
  case TM_FIX_MAP_VOID: {
    TmClassTable *t = tm_class_table_copy(tm_dataset_classes(d));
    tm_class_table_add_void(t, issue->value);
    tm_amend_set_classes(a, t);
    return TRUE;
  }
  case TM_FIX_LEAVE_OUT:
    for (guint k = 0; k < issue->entries->len; k++) {
      g_autofree char *key = tm_dataset_key(d, g_array_index(issue->entries, guint, k));
      tm_amend_leave_out(a, key, TRUE);
    }
    return TRUE;
  case TM_FIX_BY_SEQUENCE: {
    const double val = share(d, TM_SPLIT_VAL);
    g_autofree TmSplit *splits = tm_split_by_sequence(d, val > 0 ? val : VAL_SHARE, share(d, TM_SPLIT_TEST));
    tm_amend_set_splits(a, base, d, splits);
    return TRUE;
  }
  default:
    return FALSE;
  }
}
