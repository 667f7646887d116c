#include "app/data_inspector.h"

#include <gdk/gdkkeysyms.h>
#include <glib/gi18n.h>

#include "app/side_by_side.h"
#include "engine/core/label.h"
#include "engine/data/split.h"
#include "ui/class_toggles.h"
#include "ui/mask_view.h"
#include "ui/read_scene.h"
#include "ui/words.h"

struct _TmDataInspector {
  GtkBox parent;
  GtkWidget *name, *about, *pixel, *overlay, *overlay_value, *alike, *alike_title, *alike_text, *found, *only,
      *leave_out, *open_file;
  TmMaskView *view;
  TmClassToggles *toggles;
  TmProject *project;
  TmDataset *shown; /* only compared */
  guint entry;
  guint pointed; /* label under the pointer; TM_VOID + 1: none */
  GCancellable *reading;
};

enum { GO, OVERLAY, READ, N_SIGNALS };
static guint signals[N_SIGNALS];

enum { NO_LABEL = TM_VOID + 1 };

G_DEFINE_FINAL_TYPE(TmDataInspector, tm_data_inspector, GTK_TYPE_BOX)

/* ---- reading ---- */

static const char *split_words(TmSplit s) {
  return s == TM_SPLIT_TRAIN ? _("Training") : s == TM_SPLIT_VAL ? _("Validation") : _("Test");
}

static void show_about(TmDataInspector *i, const TmScene *scene) {
  const TmEntry *e = tm_dataset_entry(i->shown, i->entry);
  g_autofree char *drive = tm_sequence_name(e->name);
  GString *s = g_string_new(split_words(e->split));
  if (scene) g_string_append_printf(s, " · %d × %d", scene->w, scene->h);
  if (*drive && strcmp(drive, e->name) != 0) g_string_append_printf(s, _(" · drive %s"), drive);
  if (e->left_out) g_string_append(s, _(" · left out"));
  if (e->layer) g_string_append(s, _(" · painted"));
  gtk_label_set_label(GTK_LABEL(i->about), s->str);
  gtk_widget_set_tooltip_text(i->about, s->str);
  g_string_free(s, TRUE);
}

static void picture_read(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmDataInspector *i = TM_DATA_INSPECTOR(source);
  g_autoptr(GError) error = NULL;
  TmDataset *read;
  guint entry;
  g_autoptr(TmScene) scene = tm_read_scene_finish(result, &read, &entry, &error);
  if (!i->view || read != i->shown || entry != i->entry) return;
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) return;
  tm_mask_view_set_placeholder(i->view, error ? error->message : NULL);
  tm_mask_view_set_scene(i->view, scene);
  show_about(i, scene);
  if (scene && scene->truth) {
    g_autofree double *shares = g_new(double, scene->classes->n + 1);
    tm_scene_shares(scene, scene->truth, shares);
    tm_class_toggles_set_shares(i->toggles, shares);
  } else {
    tm_class_toggles_set_shares(i->toggles, NULL);
  }
  g_signal_emit(i, signals[READ], 0);
}

/* ---- what is known of the picture ---- */

static void show_alike(TmDataInspector *i) {
  const TmAlikeness *a = tm_project_alike(i->project);
  const TmAlike *x = a && i->entry < a->n ? &a->across[i->entry] : NULL;
  if (x && x->other == G_MAXUINT) x = &a->any[i->entry];
  gtk_widget_set_visible(i->alike, x && x->other != G_MAXUINT);
  if (!x || x->other == G_MAXUINT) return;
  const TmEntry *other = tm_dataset_entry(i->shown, x->other);
  const gboolean leak =
      (other->split == TM_SPLIT_TRAIN) != (tm_dataset_entry(i->shown, i->entry)->split == TM_SPLIT_TRAIN);
  static const char *const looks[] = {N_("Looks like a training picture"),
                                      N_("Looks like a validation picture"), N_("Looks like a test picture")};
  g_autofree char *text = g_strdup_printf(_("%s · %.0f %% alike"), other->name, (double)x->alike * 100);
  gtk_label_set_label(GTK_LABEL(i->alike_title), _(looks[other->split]));
  gtk_label_set_label(GTK_LABEL(i->alike_text), text);
  gtk_widget_remove_css_class(i->alike, leak ? "info" : "warning");
  gtk_widget_add_css_class(i->alike, leak ? "warning" : "info");
}

static void show_found(TmDataInspector *i) {
  const TmScan *s = tm_project_scan(i->project);
  const GPtrArray *f = s && i->entry < s->n_entries ? s->entries[i->entry].findings : NULL;
  GString *text = g_string_new(NULL);
  for (guint k = 0; f && k < f->len; k++)
    g_string_append_printf(text, "%s%s", k ? "\n" : "", ((TmFinding *)f->pdata[k])->text);
  gtk_label_set_label(GTK_LABEL(i->found), text->str);
  gtk_widget_set_visible(i->found, text->len > 0);
  g_string_free(text, TRUE);
}

static void refresh(TmDataInspector *i) {
  TmDataset *d = tm_project_dataset(i->project);
  if (d != i->shown) {
    i->shown = d;
    i->entry = G_MAXUINT;
    tm_mask_view_set_scene(i->view, NULL);
    gtk_label_set_label(GTK_LABEL(i->name), "");
    gtk_label_set_label(GTK_LABEL(i->about), "");
    tm_class_toggles_set_classes(i->toggles, d ? tm_dataset_classes(d) : NULL);
    guint n;
    const gboolean *hidden = tm_class_toggles_hidden(i->toggles, &n);
    if (d) tm_mask_view_set_hidden(i->view, hidden, n);
  }
  const TmEntry *e = d && i->entry != G_MAXUINT ? tm_dataset_entry(d, i->entry) : NULL;
  gtk_widget_set_sensitive(i->leave_out, e != NULL);
  gtk_widget_set_sensitive(i->open_file, e && e->image);
  gtk_button_set_label(GTK_BUTTON(i->leave_out), e && e->left_out ? _("Take Back In") : _("Leave Out"));
  if (!e) gtk_widget_set_visible(i->alike, FALSE);
  if (e) show_alike(i);
  show_found(i);
}

void tm_data_inspector_show(TmDataInspector *i, guint entry) {
  if (!i->shown || entry >= tm_dataset_n(i->shown)) return;
  i->entry = entry;
  gtk_label_set_label(GTK_LABEL(i->name), tm_dataset_entry(i->shown, entry)->name);
  show_about(i, NULL);
  refresh(i);
  tm_read_scene(G_OBJECT(i), i->shown, entry, &i->reading, picture_read);
}

guint tm_data_inspector_entry(TmDataInspector *i) {
  return i->entry;
}

TmSample tm_data_inspector_sample(TmDataInspector *i) {
  const TmScene *s = tm_mask_view_get_scene(i->view);
  return s ? (TmSample){s->w, s->h, s->rgb, s->truth} : (TmSample){0};
}

/* ---- what a person does ---- */

static void pointed(TmMaskView *v, int x, int y, TmDataInspector *i) {
  TmScene *s = tm_mask_view_get_scene(v);
  if (!s || x < 0) {
    gtk_label_set_label(GTK_LABEL(i->pixel), " ");
    return;
  }
  const gsize at = (gsize)y * (gsize)s->w + (gsize)x;
  i->pointed = s->truth ? s->truth[at] : NO_LABEL;
  const char *class = s->truth ? tm_scene_class_name(s, s->truth[at]) : "";
  g_autofree char *what = s->truth ? g_strdup_printf("%s %u", class, s->truth[at]) : g_strdup("");
  g_autofree char *text = g_strdup_printf("%s · %u %u %u · x %d, y %d", what, s->rgb[at * 3],
                                          s->rgb[at * 3 + 1], s->rgb[at * 3 + 2], x, y);
  gtk_label_set_label(GTK_LABEL(i->pixel), text);
  g_autofree char *only = g_strdup_printf(_("Only %s"), class);
  if (s->truth) gtk_button_set_label(GTK_BUTTON(i->only), only);
  gtk_widget_set_visible(i->only, s->truth != NULL);
}

static void show_only(TmDataInspector *i) {
  if (i->pointed != NO_LABEL) tm_class_toggles_only(i->toggles, i->pointed);
}
static void show_all(TmDataInspector *i) {
  tm_class_toggles_only(i->toggles, G_MAXUINT);
}
static void go_previous(TmDataInspector *i) {
  g_signal_emit(i, signals[GO], 0, -1);
}
static void go_next(TmDataInspector *i) {
  g_signal_emit(i, signals[GO], 0, 1);
}

static void overlay_changed(TmDataInspector *i) {
  const double v = gtk_range_get_value(GTK_RANGE(i->overlay)) / 100;
  g_autofree char *text = tm_words_percent(v);
  gtk_label_set_label(GTK_LABEL(i->overlay_value), text);
  tm_mask_view_set_opacity(i->view, v);
  g_signal_emit(i, signals[OVERLAY], 0, v);
}

static void hidden_changed(TmDataInspector *i) {
  guint n;
  const gboolean *hidden = tm_class_toggles_hidden(i->toggles, &n);
  tm_mask_view_set_hidden(i->view, hidden, n);
}

static void leave_out(TmDataInspector *i) {
  g_autoptr(TmAmend) next = tm_project_amendment(i->project);
  const TmEntry *e = next && i->entry != G_MAXUINT ? tm_dataset_entry(i->shown, i->entry) : NULL;
  if (!e) return;
  g_autofree char *key = tm_dataset_key(i->shown, i->entry);
  g_autofree char *said =
      g_strdup_printf(e->left_out ? _("“%s” is back in") : _("“%s” is left out"), e->name);
  tm_amend_leave_out(next, key, !e->left_out);
  tm_project_amend(i->project, g_steal_pointer(&next), said);
}

static void compare(TmDataInspector *i) {
  const TmAlikeness *a = tm_project_alike(i->project);
  if (!a || i->entry >= a->n) return;
  const TmAlike *x = a->across[i->entry].other != G_MAXUINT ? &a->across[i->entry] : &a->any[i->entry];
  if (x->other == G_MAXUINT) return;
  tm_side_by_side_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(i))), i->shown, i->entry, x->other);
}

static void large(TmDataInspector *i) {
  if (i->shown && i->entry != G_MAXUINT)
    tm_side_by_side_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(i))), i->shown, i->entry, G_MAXUINT);
}

static void open_file(TmDataInspector *i) {
  const TmEntry *e = i->entry != G_MAXUINT ? tm_dataset_entry(i->shown, i->entry) : NULL;
  if (!e || !e->image) return;
  g_autofree char *uri = g_filename_to_uri(e->image, NULL, NULL);
  if (uri) gtk_show_uri(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(i))), uri, GDK_CURRENT_TIME);
}

static gboolean toggle_class(TmDataInspector *i, guint key) {
  const guint n = i->shown ? tm_dataset_classes(i->shown)->n : 0;
  const guint c = key >= GDK_KEY_0 && key <= GDK_KEY_9 ? key - GDK_KEY_0
                  : key == GDK_KEY_minus               ? 10
                  : key == GDK_KEY_equal               ? n
                                                       : G_MAXUINT;
  if (c > n) return FALSE;
  tm_class_toggles_flip(i->toggles, c);
  return TRUE;
}

gboolean tm_data_inspector_key(TmDataInspector *i, guint key, GdkModifierType state) {
  if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) return FALSE;
  const double v = gtk_range_get_value(GTK_RANGE(i->overlay));
  switch (key) {
  case GDK_KEY_Page_Up:
    go_previous(i);
    return TRUE;
  case GDK_KEY_Page_Down:
    go_next(i);
    return TRUE;
  case GDK_KEY_bracketleft:
    gtk_range_set_value(GTK_RANGE(i->overlay), v - 5);
    return TRUE;
  case GDK_KEY_bracketright:
    gtk_range_set_value(GTK_RANGE(i->overlay), v + 5);
    return TRUE;
  case GDK_KEY_o:
    show_only(i);
    return TRUE;
  case GDK_KEY_O:
    show_all(i);
    return TRUE;
  case GDK_KEY_Delete:
    leave_out(i);
    return TRUE;
  case GDK_KEY_c:
    compare(i);
    return TRUE;
  default:
    return toggle_class(i, key);
  }
}

/* ---- the type ---- */

static void dispose(GObject *o) {
  TmDataInspector *i = TM_DATA_INSPECTOR(o);
  tm_read_scene_cancel(&i->reading);
  if (i->project) g_signal_handlers_disconnect_by_data(i->project, i);
  g_clear_object(&i->project);
  i->view = NULL;
  G_OBJECT_CLASS(tm_data_inspector_parent_class)->dispose(o);
}

static void tm_data_inspector_class_init(TmDataInspectorClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  signals[GO] = g_signal_new("go", TM_TYPE_DATA_INSPECTOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                             G_TYPE_NONE, 1, G_TYPE_INT);
  signals[OVERLAY] = g_signal_new("overlay", TM_TYPE_DATA_INSPECTOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  signals[READ] =
      g_signal_new("read", TM_TYPE_DATA_INSPECTOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static GtkWidget *label_new(const char *text, const char *css, gboolean dim) {
  GtkWidget *l = gtk_label_new(text);
  gtk_label_set_xalign(GTK_LABEL(l), 0);
  gtk_label_set_ellipsize(GTK_LABEL(l), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class(l, css);
  gtk_widget_add_css_class(l, "numeric");
  if (dim) gtk_widget_add_css_class(l, "tm-dim");
  return l;
}

static GtkWidget *button_new(TmDataInspector *i, GtkWidget *b, const char *name, const char *tip,
                             GCallback clicked) {
  gtk_widget_set_tooltip_text(b, tip);
  if (name) gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_signal_connect_swapped(b, "clicked", clicked, i);
  return b;
}

static GtkWidget *icon_new(TmDataInspector *i, const char *icon, const char *name, const char *tip,
                           GCallback clicked) {
  GtkWidget *b = button_new(i, gtk_button_new_from_icon_name(icon), name, tip, clicked);
  gtk_widget_add_css_class(b, "flat");
  return b;
}

static void make_head(TmDataInspector *i) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2);
  i->name = label_new("", "tm-h2", FALSE);
  gtk_label_set_ellipsize(GTK_LABEL(i->name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_hexpand(i->name, TRUE);
  gtk_box_append(GTK_BOX(row), i->name);
  gtk_box_append(GTK_BOX(row), icon_new(i, "go-previous-symbolic", _("Previous Picture"),
                                        _("Previous picture (Page Up)"), G_CALLBACK(go_previous)));
  gtk_box_append(GTK_BOX(row), icon_new(i, "go-next-symbolic", _("Next Picture"),
                                        _("Next picture (Page Down)"), G_CALLBACK(go_next)));
  gtk_box_append(GTK_BOX(row), icon_new(i, "view-fullscreen-symbolic", _("Side by Side"),
                                        _("In large, with and without its mask"), G_CALLBACK(large)));
  gtk_box_append(GTK_BOX(i), row);
  i->about = label_new("", "tm-small", TRUE);
  gtk_box_append(GTK_BOX(i), i->about);
}

static void make_view(TmDataInspector *i) {
  i->view = TM_MASK_VIEW(tm_mask_view_new(TM_VIEW_TRUTH, _("Picture with its mask")));
  i->pixel = label_new(" ", "tm-small", FALSE);
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
            *title = label_new(_("Overlay"), "tm-small", TRUE);
  i->overlay = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 100, 5);
  i->overlay_value = label_new("", "tm-small", FALSE);
  gtk_label_set_width_chars(GTK_LABEL(i->overlay_value), 5);
  gtk_label_set_xalign(GTK_LABEL(i->overlay_value), 1);
  gtk_widget_set_hexpand(i->overlay, TRUE);
  gtk_widget_set_tooltip_text(i->overlay, _("Overlay opacity ([ and ])"));
  gtk_accessible_update_property(GTK_ACCESSIBLE(i->overlay), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                 _("Overlay opacity"), -1);
  gtk_box_append(GTK_BOX(row), title);
  gtk_box_append(GTK_BOX(row), i->overlay);
  gtk_box_append(GTK_BOX(row), i->overlay_value);
  gtk_box_append(GTK_BOX(i), GTK_WIDGET(i->view));
  gtk_box_append(GTK_BOX(i), i->pixel);
  gtk_box_append(GTK_BOX(i), row);
}

static void make_known(TmDataInspector *i) {
  GtkWidget *words = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2),
            *button = gtk_button_new_with_label(_("Compare"));
  i->alike = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_add_css_class(i->alike, "tm-notice");
  i->alike_title = label_new("", "tm-small", FALSE);
  i->alike_text = label_new("", "tm-tiny", FALSE);
  gtk_widget_add_css_class(i->alike_title, "tm-strong");
  gtk_widget_set_hexpand(words, TRUE);
  gtk_box_append(GTK_BOX(words), i->alike_title);
  gtk_box_append(GTK_BOX(words), i->alike_text);
  gtk_box_append(GTK_BOX(i->alike), words);
  gtk_widget_set_valign(button, GTK_ALIGN_CENTER);
  gtk_box_append(GTK_BOX(i->alike),
                 button_new(i, button, NULL, _("Both in large, side by side (C)"), G_CALLBACK(compare)));
  i->found = label_new("", "tm-small", FALSE);
  gtk_label_set_wrap(GTK_LABEL(i->found), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(i->found), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_ellipsize(GTK_LABEL(i->found), PANGO_ELLIPSIZE_NONE);
  gtk_label_set_selectable(GTK_LABEL(i->found), TRUE);
  gtk_box_append(GTK_BOX(i), i->alike);
  gtk_box_append(GTK_BOX(i), i->found);
}

static void make_classes(TmDataInspector *i) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2),
            *title = label_new(_("Classes"), "tm-h2", FALSE), *all = gtk_button_new_with_label(_("All"));
  i->only = gtk_button_new_with_label("");
  gtk_widget_set_hexpand(title, TRUE);
  gtk_widget_add_css_class(all, "flat");
  gtk_widget_add_css_class(i->only, "flat");
  gtk_widget_set_visible(i->only, FALSE);
  gtk_box_append(GTK_BOX(row), title);
  gtk_box_append(GTK_BOX(row), button_new(i, i->only, NULL, _("Show only the class that was pointed at (O)"),
                                          G_CALLBACK(show_only)));
  gtk_box_append(GTK_BOX(row),
                 button_new(i, all, NULL, _("Show all classes (Shift+O)"), G_CALLBACK(show_all)));
  i->toggles = TM_CLASS_TOGGLES(tm_class_toggles_new(FALSE));
  gtk_box_append(GTK_BOX(i), row);
  gtk_box_append(GTK_BOX(i), GTK_WIDGET(i->toggles));
}

static void make_actions(TmDataInspector *i) {
  GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_box_set_homogeneous(GTK_BOX(row), TRUE);
  i->leave_out =
      button_new(i, gtk_button_new_with_label(_("Leave Out")), NULL,
                 _("Not trained on and not scored; the file stays (Delete)"), G_CALLBACK(leave_out));
  i->open_file = button_new(i, gtk_button_new_with_label(_("Open File")), NULL,
                            _("In the program for pictures"), G_CALLBACK(open_file));
  gtk_box_append(GTK_BOX(row), i->leave_out);
  gtk_box_append(GTK_BOX(row), i->open_file);
  gtk_box_append(GTK_BOX(i), row);
}

static void tm_data_inspector_init(TmDataInspector *i) {
  gtk_orientable_set_orientation(GTK_ORIENTABLE(i), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing(GTK_BOX(i), 8);
  i->entry = G_MAXUINT;
  i->pointed = NO_LABEL;
  make_head(i);
  make_view(i);
  make_known(i);
  make_classes(i);
  make_actions(i);
  g_signal_connect(i->view, "pointed", G_CALLBACK(pointed), i);
  g_signal_connect_swapped(i->toggles, "changed", G_CALLBACK(hidden_changed), i);
  g_signal_connect_swapped(i->overlay, "value-changed", G_CALLBACK(overlay_changed), i);
  gtk_range_set_value(GTK_RANGE(i->overlay), 55);
}

TmDataInspector *tm_data_inspector_new(TmProject *project) {
  TmDataInspector *i = g_object_new(TM_TYPE_DATA_INSPECTOR, NULL);
  i->project = g_object_ref(project);
  g_signal_connect_swapped(project, "changed", G_CALLBACK(refresh), i);
  refresh(i);
  return i;
}
