/* page_evaluate_report.c: the scores on the screen as files: a page to read (report.html) with pictures of the plots, and
 * tables. */
#include <errno.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "app/page_evaluate_private.h"
#include "engine/run/atomic.h"
#include "ui/widget_png.h"

static void cell(GString *s, const char *tag, const char *text) {
  g_autofree char *safe = g_markup_escape_text(text, -1);
  g_string_append_printf(s, "<%s>%s</%s>", tag, safe, tag);
}

static void number(GString *s, double v) {
  if (isnan(v))
    g_string_append(s, "<td>–</td>");
  else
    g_string_append_printf(s, "<td>%.3f</td>", v);
}

static void whole(GString *s, const TmEvaluation *e, const char *name) {
  double low, high;
  g_string_append(s, "<tr>");
  cell(s, "th", name);
  number(s, tm_confusion_miou(e->confusion));
  tm_evaluation_interval(e, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, &low, &high);
  number(s, low);
  number(s, high);
  number(s, tm_confusion_accuracy(e->confusion));
  number(s, tm_confusion_weighted_iou(e->confusion));
  number(s, tm_evaluation_boundary_f1(e));
  number(s, e->tells_sureness ? tm_reliability_error(e->bins) : NAN);
  g_string_append(s, "</tr>\n");
}

static void classes(GString *s, const TmEvaluation *e, const TmEvaluation *other) {
  const char *const heads[] = {_("Class"),  _("IoU"),         _("compared"),   _("F1"),
                               _("Precision"), _("Recall"), _("Boundary F1")};
  g_string_append(s, "<table><tr>");
  for (guint i = 0; i < G_N_ELEMENTS(heads); i++)
    if (i != 2 || other) cell(s, "th", heads[i]);
  g_string_append(s, "</tr>\n");
  for (guint c = 0; c < e->classes->n; c++) {
    g_string_append(s, "<tr>");
    cell(s, "th", e->classes->classes[c].name);
    number(s, tm_confusion_iou(e->confusion, c));
    if (other) number(s, tm_confusion_iou(other->confusion, c));
    number(s, tm_confusion_f1(e->confusion, c));
    number(s, tm_confusion_precision(e->confusion, c));
    number(s, tm_confusion_recall(e->confusion, c));
    number(s, tm_evaluation_class_boundary_f1(e, c));
    g_string_append(s, "</tr>\n");
  }
  g_string_append(s, "</table>\n");
}

static char *page(TmPageEvaluate *p, const char *name, const char *other) {
  const TmEvaluation *e = p->shown;
  GString *s = g_string_new("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>Tarmac</title>\n<style>"
                            "body{font:15px sans-serif;max-width:960px;margin:2em auto;padding:0 1em}"
                            "table{border-collapse:collapse}th,td{padding:3px 10px;text-align:right;"
                            "border-bottom:1px solid #ddd}tr>th:first-child{text-align:left}img{max-width:100%}"
                            "</style></head><body>\n");
  g_autofree char *title = g_strdup_printf(_("%s, epoch %u, on %s (%s)"), name, e->epoch, e->dataset,
                                           tm_split_name(e->split));
  cell(s, "h1", title);
  const char *const heads[] = {"", _("Mean IoU"), _("from"), _("to"), _("Pixel accuracy"), _("IoU by share"),
                               _("Boundary F1"), _("Calibration error")};
  g_string_append(s, "<table><tr>");
  for (guint i = 0; i < G_N_ELEMENTS(heads); i++) cell(s, "th", heads[i]);
  g_string_append(s, "</tr>\n");
  whole(s, e, name);
  if (p->other) whole(s, p->other, other);
  g_string_append(s, "</table>\n");
  g_autofree char *rule = g_strdup_printf(
      _("All pixels of %u pictures went into one confusion matrix; classes in neither truth nor prediction are left out of "
        "the mean. From – to holds the mean IoU in 95 of 100 draws of as many pictures (%d draws, seed %d). Boundaries are "
        "compared within %d pixels (Csurka et al., 2013); calibration in %d bins (Guo et al., 2017)."),
      e->pictures->len, TM_BOOTSTRAP_DRAWS, TM_BOOTSTRAP_SEED, TM_BOUNDARY_BAND, TM_RELIABILITY_BINS);
  cell(s, "p", rule);
  classes(s, e, p->other);
  const char *const pictures[] = {"classes.png", "confusion.png", "calibration.png"};
  for (guint i = 0; i < G_N_ELEMENTS(pictures); i++)
    g_string_append_printf(s, "<p><img src=\"%s\" alt=\"%s\"></p>\n", pictures[i], pictures[i]);
  g_string_append(s, "</body></html>\n");
  return g_string_free(s, FALSE);
}

static gboolean write_text(const char *folder, const char *name, const char *text, GError **error) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  return tm_atomic_write_file(path, text, strlen(text), error);
}

static gboolean write_png(GtkWidget *w, const char *folder, const char *name, GError **error) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  /* A card of a narrow window that is not chosen is not on the screen: its table is there all the same. */
  return !gtk_widget_get_mapped(w) || tm_widget_write_png(w, path, error);
}

static gboolean write_all(TmPageEvaluate *p, const char *folder, GError **error) {
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p), *compared = tm_page_evaluate_compared(p);
  g_autofree char *html = page(p, chosen ? chosen->name : "", compared ? compared->name : ""),
                  *by_class = tm_evaluation_class_csv(p->shown), *pictures = tm_evaluation_picture_csv(p->shown),
                  *confusion = tm_evaluation_confusion_csv(p->shown);
  return write_text(folder, "classes.csv", by_class, error) && write_text(folder, "pictures.csv", pictures, error) &&
         write_text(folder, "confusion.csv", confusion, error) &&
         write_png(GTK_WIDGET(p->bars), folder, "classes.png", error) &&
         write_png(GTK_WIDGET(p->map), folder, "confusion.png", error) &&
         write_png(GTK_WIDGET(p->calibration), folder, "calibration.png", error) &&
         tm_evaluation_write(p->shown, folder, error) && write_text(folder, "report.html", html, error);
}

static void tell(TmPageEvaluate *p, const char *folder, const GError *error) {
  GtkWidget *overlay = gtk_widget_get_ancestor(GTK_WIDGET(p), ADW_TYPE_TOAST_OVERLAY);
  g_autofree char *shown = g_filename_display_basename(folder),
                  *text = error ? g_strdup(error->message) : g_strdup_printf(_("Report written to “%s”"), shown),
                  *safe = g_markup_escape_text(text, -1);
  if (overlay) adw_toast_overlay_add_toast(ADW_TOAST_OVERLAY(overlay), adw_toast_new(safe));
}

/* A folder of its own, never one that is there. */
static char *new_folder(const char *parent, TmPageEvaluate *p, GError **error) {
  const TmRunInfo *chosen = tm_page_evaluate_chosen(p);
  for (guint i = 1; i < 1000; i++) {
    g_autofree char *base = g_strdup_printf("%s-%s", chosen ? chosen->name : "report", tm_split_name(p->shown->split)),
                    *name = i == 1 ? g_strdup(base) : g_strdup_printf("%s-%u", base, i);
    g_strdelimit(name, "/", '_');
    g_autofree char *path = g_build_filename(parent, name, NULL);
    if (g_mkdir(path, 0777) == 0) return g_steal_pointer(&path);
    if (errno != EEXIST) {
      tm_write_error(error, errno, path, 0);
      return NULL;
    }
  }
  tm_write_error(error, EEXIST, parent, 0);
  return NULL;
}

static void folder_chosen(GtkNativeDialog *dialog, int answer, TmPageEvaluate *p) {
  g_autoptr(GFile) file = answer == GTK_RESPONSE_ACCEPT ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog)) : NULL;
  g_autofree char *parent = file ? g_file_get_path(file) : NULL;
  if (parent && p->shown) {
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = new_folder(parent, p, &error);
    if (folder) write_all(p, folder, &error);
    tell(p, folder ? folder : parent, error);
  }
  g_object_unref(dialog);
}

void tm_page_evaluate_report(TmPageEvaluate *p) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  GtkFileChooserNative *d =
      gtk_file_chooser_native_new(_("Write the Report into a Folder"), GTK_IS_WINDOW(root) ? GTK_WINDOW(root) : NULL,
                                  GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _("_Write"), NULL);
  gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(d), TRUE);
  g_signal_connect_object(d, "response", G_CALLBACK(folder_chosen), p, 0);
  gtk_native_dialog_show(GTK_NATIVE_DIALOG(d));
}
