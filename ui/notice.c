#include "ui/notice.h"

struct _TmNotice {
  GtkWidget parent;
  GtkWidget *revealer, *box, *icon, *text, *button, *other;
  char *shown; /* markup on show: nothing is announced twice */
};

G_DEFINE_FINAL_TYPE(TmNotice, tm_notice, GTK_TYPE_WIDGET)

static void dispose(GObject *o) {
  g_clear_pointer(&TM_NOTICE(o)->revealer, gtk_widget_unparent);
  g_clear_pointer(&TM_NOTICE(o)->shown, g_free);
  G_OBJECT_CLASS(tm_notice_parent_class)->dispose(o);
}

static void tm_notice_class_init(TmNoticeClass *c) {
  G_OBJECT_CLASS(c)->dispose = dispose;
  gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(c), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role(GTK_WIDGET_CLASS(c), GTK_ACCESSIBLE_ROLE_STATUS);
}

static GtkWidget *button_new(GtkWidget *box, gboolean suggested) {
  GtkWidget *b = gtk_button_new();
  gtk_widget_set_valign(b, GTK_ALIGN_CENTER);
  gtk_widget_set_visible(b, FALSE);
  gtk_widget_add_css_class(b, suggested ? "suggested-action" : "flat");
  gtk_box_append(GTK_BOX(box), b);
  return b;
}

static void tm_notice_init(TmNotice *n) {
  n->revealer = gtk_revealer_new();
  n->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_widget_add_css_class(n->box, "tm-notice");
  n->icon = gtk_image_new();
  n->text = gtk_label_new(NULL);
  gtk_label_set_wrap(GTK_LABEL(n->text), TRUE);
  gtk_label_set_wrap_mode(GTK_LABEL(n->text), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_natural_wrap_mode(GTK_LABEL(n->text), GTK_NATURAL_WRAP_NONE);
  gtk_label_set_xalign(GTK_LABEL(n->text), 0);
  gtk_widget_set_hexpand(n->text, TRUE);
  gtk_box_append(GTK_BOX(n->box), n->icon);
  gtk_box_append(GTK_BOX(n->box), n->text);
  n->other = button_new(n->box, FALSE);
  n->button = button_new(n->box, TRUE);
  gtk_revealer_set_child(GTK_REVEALER(n->revealer), n->box);
  gtk_widget_set_parent(n->revealer, GTK_WIDGET(n));
  gtk_widget_set_visible(GTK_WIDGET(n), FALSE);
}

GtkWidget *tm_notice_new(void) {
  return g_object_new(TM_TYPE_NOTICE, NULL);
}

void tm_notice_show(TmNotice *n, TmNoticeKind kind, const char *icon, const char *strong, const char *rest) {
  static const char *const icons[] = {"dialog-information-symbolic", "dialog-warning-symbolic",
                                      "dialog-error-symbolic"};
  static const char *const classes[] = {"info", "warning", "error"};
  gtk_widget_set_visible(GTK_WIDGET(n), strong != NULL);
  gtk_revealer_set_reveal_child(GTK_REVEALER(n->revealer), strong != NULL);
  if (!strong) {
    g_clear_pointer(&n->shown, g_free);
    return;
  }
  g_autofree char *s = g_markup_escape_text(strong, -1), *r = g_markup_escape_text(rest ? rest : "", -1);
  g_autofree char *markup = g_strdup_printf("<b>%s</b>%s%s", s, *r ? " " : "", r);
  for (int i = 0; i < 3; i++) gtk_widget_remove_css_class(n->box, classes[i]);
  gtk_widget_add_css_class(n->box, classes[kind]);
  gtk_image_set_from_icon_name(GTK_IMAGE(n->icon), icon ? icon : icons[kind]);
  if (g_strcmp0(n->shown, markup) == 0) return;
  gtk_label_set_markup(GTK_LABEL(n->text), markup);
  g_free(n->shown);
  n->shown = g_steal_pointer(&markup);
}

static void set_button(GtkWidget *b, const char *label, const char *action) {
  gtk_widget_set_visible(b, label != NULL);
  if (!label) return;
  gtk_button_set_label(GTK_BUTTON(b), label);
  gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(b), action);
}

void tm_notice_set_buttons(TmNotice *n, const char *label, const char *action, const char *other_label,
                           const char *other_action) {
  set_button(n->button, label, action);
  set_button(n->other, other_label, other_action);
}
