/* page_evaluate_choice.c: which network, compared with which, on which split, and what was kept of their scores. */
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "app/page_evaluate_private.h"
#include "app/run_source.h"
#include "engine/run/run_dir.h"
#include "ui/words.h"

/* ---- what is chosen ---- */

const TmRunInfo *tm_page_evaluate_chosen(TmPageEvaluate *p) {
  const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->run));
  return p->networks && i < p->networks->len ? p->networks->pdata[i] : NULL;
}

const TmRunInfo *tm_page_evaluate_compared(TmPageEvaluate *p) {
  const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->compare)); /* the first is None */
  return p->networks && i > 0 && i <= p->networks->len ? p->networks->pdata[i - 1] : NULL;
}

TmSplit tm_page_evaluate_split(TmPageEvaluate *p) {
  const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(p->split));
  return i < p->n_splits ? p->splits[i] : TM_SPLIT_VAL;
}

const guint8 *tm_page_evaluate_match(TmPageEvaluate *p) {
  const TmRunInfo *r = tm_page_evaluate_chosen(p);
  return r && g_strcmp0(r->path, p->matched) == 0 ? p->match : NULL;
}

/* ---- scores that were kept ---- */

typedef struct {
  char *path[2], *network[2];
  char *hash;
  TmEvaluation *e[2];
  gboolean stale;
} Reading;

static void reading_free(gpointer data) {
  Reading *r = data;
  for (int i = 0; i < 2; i++) {
    g_free(r->path[i]);
    g_free(r->network[i]);
    g_clear_pointer(&r->e[i], tm_evaluation_free);
  }
  g_free(r->hash);
  g_free(r);
}

static gint64 time_of(const char *path) {
  GStatBuf st;
  return path && g_stat(path, &st) == 0 ? (gint64)st.st_mtime : 0;
}

static void read_kept(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)cancel;
  Reading *r = data;
  for (int i = 0; i < 2; i++) {
    if (!r->path[i]) continue;
    r->e[i] = tm_evaluation_read(r->path[i], NULL);
    /* Of other pictures than these it says nothing here. */
    if (r->e[i] && !g_str_equal(r->e[i]->dataset_hash, r->hash)) g_clear_pointer(&r->e[i], tm_evaluation_free);
  }
  g_autofree char *weights = r->network[0] ? tm_run_best_path(r->network[0], NULL) : NULL;
  r->stale = r->e[0] && time_of(weights) > time_of(r->path[0]);
  g_task_return_boolean(task, TRUE);
}

/* A comparison of other classes compares nothing. */
static gboolean same_classes(const TmEvaluation *a, const TmEvaluation *b) {
  if (a->classes->n != b->classes->n) return FALSE;
  for (guint i = 0; i < a->classes->n; i++)
    if (!g_str_equal(a->classes->classes[i].name, b->classes->classes[i].name)) return FALSE;
  return TRUE;
}

static void kept_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageEvaluate *p = TM_PAGE_EVALUATE(source);
  Reading *r = g_task_get_task_data(G_TASK(result));
  if (!g_task_propagate_boolean(G_TASK(result), NULL) || !p->evaluator) return;
  g_clear_pointer(&p->shown, tm_evaluation_free);
  g_clear_pointer(&p->other, tm_evaluation_free);
  p->shown = g_steal_pointer(&r->e[0]);
  p->other = g_steal_pointer(&r->e[1]);
  p->stale = r->stale;
  if (p->shown && p->other && !same_classes(p->shown, p->other)) g_clear_pointer(&p->other, tm_evaluation_free);
  p->by_cell = FALSE;
  p->worst_class = G_MAXUINT;
  tm_page_evaluate_refresh(p);
}

static char *kept_path(const TmRunInfo *r, TmSplit split) {
  g_autofree char *folder = tm_run_source_folder(r->path);
  return tm_evaluation_path(folder, split);
}

void tm_page_evaluate_read_scores(TmPageEvaluate *p) {
  const TmRunInfo *chosen[2] = {tm_page_evaluate_chosen(p), tm_page_evaluate_compared(p)};
  if (p->reading) g_cancellable_cancel(p->reading);
  g_clear_object(&p->reading);
  if (!chosen[0] || !p->dataset) {
    tm_page_evaluate_refresh(p);
    return;
  }
  Reading *r = g_new0(Reading, 1);
  r->hash = g_strdup(tm_dataset_hash(p->dataset));
  for (int i = 0; i < 2 && chosen[i]; i++) {
    r->path[i] = kept_path(chosen[i], tm_page_evaluate_split(p));
    r->network[i] = g_strdup(chosen[i]->path);
  }
  p->reading = g_cancellable_new();
  g_autoptr(GTask) task = g_task_new(p, p->reading, kept_read, NULL);
  g_task_set_task_data(task, r, reading_free);
  g_task_run_in_thread(task, read_kept);
}

/* ---- the lists ---- */

static char *network_words(const TmRunInfo *r) {
  return r->best_epoch || !isnan(r->best_miou)
             ? g_strdup_printf(_("%s · epoch %u"), r->name, r->best_epoch + 1)
             : g_strdup(r->name);
}

static void find_networks(TmPageEvaluate *p) {
  g_autofree char *root =
      p->dataset ? tm_run_default_root(tm_dataset_path(p->dataset), tm_dataset_title(p->dataset)) : NULL;
  g_clear_pointer(&p->networks, g_ptr_array_unref);
  p->networks = root ? tm_run_list(root) : g_ptr_array_new_with_free_func((GDestroyNotify)tm_run_info_free);
  for (guint i = p->networks->len; i > 0; i--)
    if (!((TmRunInfo *)p->networks->pdata[i - 1])->has_network) g_ptr_array_remove_index(p->networks, i - 1);
  if (p->opened) g_ptr_array_insert(p->networks, 0, tm_run_info_of_file(p->opened));
}

static guint place_of(TmPageEvaluate *p, const char *path) {
  for (guint i = 0; path && i < p->networks->len; i++)
    if (g_str_equal(((TmRunInfo *)p->networks->pdata[i])->path, path)) return i;
  return G_MAXUINT;
}

/* Reads the runs again and keeps what is chosen where it is still there. */
void tm_page_evaluate_fill_networks(TmPageEvaluate *p) {
  const TmRunInfo *a = tm_page_evaluate_chosen(p), *b = tm_page_evaluate_compared(p);
  g_autofree char *chosen = a ? g_strdup(a->path) : NULL, *compared = b ? g_strdup(b->path) : NULL;
  find_networks(p);
  g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
  g_autoptr(GtkStringList) others = gtk_string_list_new(NULL);
  gtk_string_list_append(others, _("None"));
  for (guint i = 0; i < p->networks->len; i++) {
    const TmRunInfo *r = p->networks->pdata[i];
    g_autofree char *words = network_words(r);
    gtk_string_list_append(names, words);
    gtk_string_list_append(others, r->name);
  }
  p->quiet = TRUE;
  gtk_drop_down_set_model(GTK_DROP_DOWN(p->run), G_LIST_MODEL(names));
  gtk_drop_down_set_model(GTK_DROP_DOWN(p->compare), G_LIST_MODEL(others));
  const guint at = place_of(p, chosen), other = place_of(p, compared);
  if (p->networks->len) gtk_drop_down_set_selected(GTK_DROP_DOWN(p->run), at == G_MAXUINT ? 0 : at);
  gtk_drop_down_set_selected(GTK_DROP_DOWN(p->compare), other == G_MAXUINT ? 0 : other + 1);
  p->quiet = FALSE;
  tm_page_evaluate_read_scores(p);
}

void tm_page_evaluate_fill_splits(TmPageEvaluate *p) {
  static const TmSplit order[] = {TM_SPLIT_VAL, TM_SPLIT_TEST, TM_SPLIT_TRAIN};
  static const char *const names[TM_N_SPLITS] = {
      [TM_SPLIT_VAL] = N_("Val"), [TM_SPLIT_TEST] = N_("Test"), [TM_SPLIT_TRAIN] = N_("Train")};
  g_autoptr(GtkStringList) words = gtk_string_list_new(NULL);
  p->n_splits = 0;
  for (guint i = 0; p->dataset && i < TM_N_SPLITS; i++) {
    const guint n = tm_dataset_n_split(p->dataset, order[i]);
    if (!n) continue;
    g_autofree char *count = tm_words_count(n),
                    *text = g_strdup_printf(ngettext("%s · %s picture", "%s · %s pictures", n), _(names[order[i]]), count);
    gtk_string_list_append(words, text);
    p->splits[p->n_splits++] = order[i];
  }
  p->quiet = TRUE;
  gtk_drop_down_set_model(GTK_DROP_DOWN(p->split), G_LIST_MODEL(words));
  p->quiet = FALSE;
}
