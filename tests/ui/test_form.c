#include <adwaita.h>
#include <math.h>

#include "ui/settings_form.h"

static void assert_same(const TmSettings *a, const TmSettings *b) {
  guint n;
  const TmOption *o = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *x = tm_settings_get(a, o[i].key), *y = tm_settings_get(b, o[i].key);
    if (o[i].type == TM_OPTION_FLOAT)
      g_assert_cmpfloat_with_epsilon(g_ascii_strtod(x, NULL), g_ascii_strtod(y, NULL),
                                     1e-6 * (1 + fabs(o[i].hi) * 1e-6));
    else
      g_assert_cmpstr(x, ==, y);
  }
}

static void test_round_trip(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  TmSettingsForm *f = TM_SETTINGS_FORM(w);
  g_autoptr(GRand) r = g_rand_new_with_seed(5);
  guint n;
  const TmOption *o = tm_options(&n);
  for (int round = 0; round < 20; round++) {
    TmSettings s, got;
    tm_settings_defaults(&s);
    for (guint i = 0; i < n; i++) {
      g_autofree char *text = NULL;
      double hi = MIN(o[i].hi, 1000.0);
      if (o[i].type == TM_OPTION_INT)
        text = g_strdup_printf("%d", g_rand_int_range(r, (int)o[i].lo, (int)hi + 1));
      else if (o[i].type == TM_OPTION_FLOAT)
        text = g_strdup_printf("%.4g", g_rand_double_range(r, o[i].lo, hi));
      else if (o[i].type == TM_OPTION_BOOL)
        text = g_strdup(g_rand_boolean(r) ? "true" : "false");
      else
        text = o[i].type == TM_OPTION_TEXT ? g_strdup(o[i].example) : g_strdup(o[i].choices[g_rand_int_range(r, 0, (int)g_strv_length((char **)o[i].choices))]);
      g_autoptr(GError) error = NULL;
      g_assert_true(tm_settings_set(&s, o[i].key, text, &error));
    }
    tm_settings_form_set(f, &s);
    tm_settings_form_get(f, &got);
    assert_same(&s, &got);
  }
}

static void test_presets(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  for (const char *const *name = tm_settings_presets(); *name; name++) {
    TmSettings s, got;
    tm_settings_defaults(&s);
    g_assert_true(tm_settings_preset(&s, *name, NULL));
    tm_settings_form_set(TM_SETTINGS_FORM(w), &s);
    tm_settings_form_get(TM_SETTINGS_FORM(w), &got);
    assert_same(&s, &got);
  }
}

static void count(TmSettingsForm *f, int *n) {
  (void)f;
  ++*n;
}

static void test_typing(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  TmSettingsForm *f = TM_SETTINGS_FORM(w);
  int changes = 0;
  g_signal_connect(f, "changed", G_CALLBACK(count), &changes);
  GtkWidget *lr = tm_settings_form_editor(f, "lr");
  g_assert_true(GTK_IS_SPIN_BUTTON(lr));
  const struct {
    const char *text;
    double want;
  } typed[] = {{"0.00043", 0.00043}, {"0,001", 0.001}, {"1e-5", 1e-5}, {" 0.5 ", 0.5}};
  for (guint i = 0; i < G_N_ELEMENTS(typed); i++) {
    gtk_editable_set_text(GTK_EDITABLE(lr), typed[i].text);
    gtk_spin_button_update(GTK_SPIN_BUTTON(lr));
    TmSettings s;
    tm_settings_form_get(f, &s);
    g_assert_cmpfloat_with_epsilon(s.lr, typed[i].want, 1e-12);
  }
  g_assert_cmpint(changes, ==, G_N_ELEMENTS(typed));
  gtk_editable_set_text(GTK_EDITABLE(lr), "quick"); /* no number: what was there stays */
  gtk_spin_button_update(GTK_SPIN_BUTTON(lr));
  TmSettings s;
  tm_settings_form_get(f, &s);
  g_assert_cmpfloat_with_epsilon(s.lr, 0.5, 1e-12);
}

/* Setting the form is not the person's doing. */
static void test_quiet(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  int changes = 0;
  g_signal_connect(w, "changed", G_CALLBACK(count), &changes);
  TmSettings s;
  tm_settings_defaults(&s);
  s.epochs = 77;
  tm_settings_form_set(TM_SETTINGS_FORM(w), &s);
  g_assert_cmpint(changes, ==, 0);
}

static void test_locked(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  TmSettingsForm *f = TM_SETTINGS_FORM(w);
  guint n;
  const TmOption *o = tm_options(&n);
  for (int locked = 1; locked >= 0; locked--) {
    tm_settings_form_set_locked(f, locked);
    for (guint i = 0; i < n; i++)
      g_assert_cmpint(gtk_widget_get_visible(tm_settings_form_editor(f, o[i].key)), ==, !locked);
  }
}

static void test_every_option_is_labelled(void) {
  g_autoptr(GtkWidget) w = g_object_ref_sink(tm_settings_form_new());
  guint n;
  const TmOption *o = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    GtkWidget *e = tm_settings_form_editor(TM_SETTINGS_FORM(w), o[i].key);
    g_assert_nonnull(e);
    g_assert_true(gtk_test_accessible_has_relation(GTK_ACCESSIBLE(e), GTK_ACCESSIBLE_RELATION_LABELLED_BY));
    gtk_test_accessible_assert_property(GTK_ACCESSIBLE(e), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, o[i].help);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP no display\n");
    return 0;
  }
  adw_init();
  g_test_add_func("/ui/form/round-trip", test_round_trip);
  g_test_add_func("/ui/form/presets", test_presets);
  g_test_add_func("/ui/form/typing", test_typing);
  g_test_add_func("/ui/form/quiet", test_quiet);
  g_test_add_func("/ui/form/locked", test_locked);
  g_test_add_func("/ui/form/every-option-is-labelled", test_every_option_is_labelled);
  return g_test_run();
}
