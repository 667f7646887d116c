/* The table of settings: round trips, ranges, presets. */
#include <locale.h>
#include <math.h>

#include "engine/train/settings.h"

static gboolean same(const TmSettings *a, const TmSettings *b) {
  guint n;
  const TmOption *o = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *x = tm_settings_get(a, o[i].key), *y = tm_settings_get(b, o[i].key);
    if (!g_str_equal(x, y)) return FALSE;
  }
  return TRUE;
}

static void test_table(void) {
  guint n;
  const TmOption *o = tm_options(&n);
  g_assert_cmpuint(n, >=, 30);
  for (guint i = 0; i < n; i++) {
    g_assert_true(o[i].key && *o[i].key && o[i].group && *o[i].group && o[i].label && *o[i].label &&
                  o[i].help && *o[i].help);
    g_assert_cmpuint(o[i].offset, <, sizeof(TmSettings));
    g_assert_true(tm_option_find(o[i].key) == &o[i]);
    for (guint k = 0; k < i; k++) {
      g_assert_cmpstr(o[i].key, !=, o[k].key);
      g_assert_cmpuint(o[i].offset, !=, o[k].offset);
    }
    if (o[i].type == TM_OPTION_CHOICE)
      g_assert_true(g_strv_contains(o[i].choices, o[i].def_choice));
    else if (o[i].type == TM_OPTION_TEXT)
      g_assert_true(o[i].pattern && o[i].example && o[i].def_choice);
    else
      g_assert_true(o[i].def >= o[i].lo && o[i].def <= o[i].hi);
  }
}

/* A form shows the groups as sections: each must be one stretch of the table. */
static void test_groups_hold_together(void) {
  guint n;
  const TmOption *o = tm_options(&n);
  g_autoptr(GHashTable) closed = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 1; i < n; i++) {
    if (g_str_equal(o[i].group, o[i - 1].group)) continue;
    g_assert_false(g_hash_table_contains(closed, o[i].group));
    g_hash_table_add(closed, (gpointer)o[i - 1].group);
  }
}

static void test_defaults(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  g_assert_cmpint(s.base, ==, 16);
  g_assert_cmpfloat(s.lr, ==, 0.003);
  g_assert_true(s.batch_norm);
  g_assert_cmpstr(s.schedule, ==, "one-cycle");
  g_autofree char *lr = tm_settings_get(&s, "lr"), *decay = tm_settings_get(&s, "weight_decay");
  g_assert_cmpstr(lr, ==, "0.003");
  g_assert_cmpstr(decay, ==, "0.01");
}

static void test_text_round_trip(void) {
  TmSettings a, b;
  tm_settings_defaults(&a);
  a.lr = 1.0 / 3.0;
  a.clip = 1e-17;
  a.ema = 0.99989999999999;
  a.batch_norm = FALSE;
  tm_settings_defaults(&b);
  guint n;
  const TmOption *o = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *text = tm_settings_get(&a, o[i].key);
    g_assert_true(tm_settings_set(&b, o[i].key, text, NULL));
  }
  g_assert_cmpfloat(b.lr, ==, a.lr);
  g_assert_cmpfloat(b.clip, ==, a.clip);
  g_assert_cmpfloat(b.ema, ==, a.ema);
  g_assert_true(same(&a, &b));
}

static void test_json_round_trip(void) {
  TmSettings a, b;
  tm_settings_defaults(&a);
  g_assert_true(tm_settings_preset(&a, "road64", NULL));
  a.lr = 0.1 + 0.2;
  a.seed = 2147483647;
  g_autoptr(JsonNode) node = tm_settings_to_json(&a);
  g_autofree char *text = json_to_string(node, TRUE);
  g_autoptr(JsonNode) back = json_from_string(text, NULL);
  tm_settings_defaults(&b);
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_settings_from_json(&b, back, &e));
  g_assert_no_error(e);
  g_assert_true(same(&a, &b));
  g_assert_cmpfloat(b.lr, ==, a.lr);
}

static void test_json_strange(void) {
  TmSettings s, before;
  tm_settings_defaults(&s);
  before = s;
  g_autoptr(JsonNode) newer = json_from_string("{\"base\": 24, \"warp_drive\": [1]}", NULL);
  g_assert_true(tm_settings_from_json(&s, newer, NULL));
  g_assert_cmpint(s.base, ==, 24);
  g_assert_cmpint(s.depth, ==, before.depth);
  static const char *const wrong[] = {"[]",
                                      "{\"base\": \"x\"}",
                                      "{\"base\": 2.5}",
                                      "{\"base\": 0}",
                                      "{\"base\": 1e99}",
                                      "{\"lr\": true}",
                                      "{\"batch_norm\": 1}",
                                      "{\"loss\": \"mse\"}",
                                      "{\"loss\": null}",
                                      "{\"lr\": {}}"};
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(JsonNode) node = json_from_string(wrong[i], NULL);
    g_autoptr(GError) e = NULL;
    g_assert_false(tm_settings_from_json(&s, node, &e));
    g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
    g_assert_cmpint(s.base, ==, 24);
  }
  /* All or nothing: what stands before the wrong one is not taken either. */
  g_autoptr(JsonNode) half = json_from_string("{\"base\": 8, \"lr\": -1}", NULL);
  g_assert_false(tm_settings_from_json(&s, half, NULL));
  g_assert_cmpint(s.base, ==, 24);
}

static void refuse(const TmOption *o, const char *text) {
  TmSettings s, before;
  tm_settings_defaults(&s);
  before = s;
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_settings_set(&s, o->key, text, &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, o->key));
  g_assert_true(same(&s, &before));
}

static void accept(const TmOption *o, const char *text) {
  TmSettings s;
  tm_settings_defaults(&s);
  g_autoptr(GError) e = NULL;
  g_assert_true(tm_settings_set(&s, o->key, text, &e));
  g_assert_no_error(e);
}

static void test_option(gconstpointer data) {
  const TmOption *o = data;
  refuse(o, "");
  refuse(o, "  ");
  refuse(o, "maybe");
  if (o->type == TM_OPTION_CHOICE) {
    for (guint i = 0; o->choices[i]; i++) accept(o, o->choices[i]);
    return;
  }
  if (o->type == TM_OPTION_TEXT) {
    accept(o, o->def_choice);
    accept(o, o->example);
    refuse(o, "first; rm -r x");
    return;
  }
  if (o->type == TM_OPTION_BOOL) {
    refuse(o, "2");
    accept(o, "Yes");
    accept(o, "off");
    return;
  }
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  static const char *const never[] = {"nan", "inf", "-inf", "1e999", "1,5", "1 2", "0.5x", "--1"};
  for (guint i = 0; i < G_N_ELEMENTS(never); i++) refuse(o, never[i]);
  refuse(o, g_ascii_formatd(text, sizeof text, "%.17g", o->lo - 1));
  refuse(o, g_ascii_formatd(text, sizeof text, "%.17g", o->hi * 2 + 1));
  accept(o, g_ascii_formatd(text, sizeof text, "%.17g", o->lo));
  accept(o, g_ascii_formatd(text, sizeof text, "%.17g", o->hi));
  if (o->type == TM_OPTION_INT) refuse(o, "1.5");
}

static void test_unknown(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_settings_set(&s, "learning_rate", "1", &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, "lr"));
  g_assert_null(tm_settings_get(&s, "learning_rate"));
  g_assert_null(tm_option_find(NULL));
  g_assert_null(tm_option_find("weight"));
  g_assert_null(tm_option_find("weight_decay_"));
}

static void test_dashes(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  g_assert_true(tm_settings_set(&s, "weight-decay", " 0.5\n", NULL));
  g_assert_cmpfloat(s.weight_decay, ==, 0.5);
}

/* A German or French desktop writes 0,003; files and options do not. */
static void test_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  const char *found = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(names) && !found; i++) found = setlocale(LC_NUMERIC, names[i]);
  if (!found) {
    g_test_skip("no locale with a decimal comma is installed");
    return;
  }
  TmSettings s;
  tm_settings_defaults(&s);
  g_assert_true(tm_settings_set(&s, "lr", "0.125", NULL));
  g_assert_cmpfloat(s.lr, ==, 0.125);
  g_autofree char *text = tm_settings_get(&s, "lr");
  g_assert_cmpstr(text, ==, "0.125");
  setlocale(LC_NUMERIC, "C");
}

static void test_presets(void) {
  const char *const *names = tm_settings_presets();
  g_assert_cmpuint(g_strv_length((char **)names), ==, 3);
  for (guint i = 0; names[i]; i++) {
    TmSettings s;
    tm_settings_defaults(&s);
    g_autoptr(GError) e = NULL;
    g_assert_true(tm_settings_preset(&s, names[i], &e));
    g_assert_no_error(e);
    g_assert_nonnull(tm_settings_preset_text(names[i]));
    g_assert_cmpfloat(s.scale_min, <=, s.scale_max);
  }
  TmSettings s;
  tm_settings_defaults(&s);
  g_autoptr(GError) e = NULL;
  g_assert_false(tm_settings_preset(&s, "road128", &e));
  g_assert_error(e, TM_ERROR, TM_ERROR_SETTING);
  g_assert_nonnull(strstr(e->message, "camvid"));
  g_assert_null(tm_settings_preset_text("road128"));
}

/* The peer's recipe, number for number. */
static void test_camvid(void) {
  TmSettings s;
  tm_settings_defaults(&s);
  s.flip = 0;
  s.dropout = 0.5; /* a preset sets what the recipe says, whatever was there */
  g_assert_true(tm_settings_preset(&s, "camvid", NULL));
  g_assert_true(s.base == 32 && s.depth == 4 && s.batch == 8 && s.crop == 320 && s.epochs == 12 &&
                s.batch_norm);
  g_assert_true(s.lr == 0.003 && s.warmup == 0.15 && s.weight_decay == 0.01 && s.scale_min == 0.75 &&
                s.scale_max == 1.5);
  g_assert_true(s.flip == 0.5 && s.brightness == 0.2 && s.offset == 20 && s.dropout == 0 && s.rotate == 0 &&
                s.clip == 0);
  g_assert_cmpstr(s.class_weights, ==, "sqrt");
  g_assert_cmpstr(s.optimizer, ==, "adamw");
  g_assert_cmpstr(s.schedule, ==, "one-cycle");
  g_assert_cmpstr(s.loss, ==, "cross-entropy");
}

int main(int argc, char **argv) {
  setlocale(LC_ALL, "");
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/settings/table", test_table);
  g_test_add_func("/settings/groups-hold-together", test_groups_hold_together);
  g_test_add_func("/settings/defaults", test_defaults);
  g_test_add_func("/settings/text-round-trip", test_text_round_trip);
  g_test_add_func("/settings/json-round-trip", test_json_round_trip);
  g_test_add_func("/settings/json-strange", test_json_strange);
  g_test_add_func("/settings/unknown", test_unknown);
  g_test_add_func("/settings/dashes", test_dashes);
  g_test_add_func("/settings/locale", test_locale);
  g_test_add_func("/settings/presets", test_presets);
  g_test_add_func("/settings/camvid", test_camvid);
  guint n;
  const TmOption *o = tm_options(&n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strconcat("/settings/range/", o[i].key, NULL);
    g_test_add_data_func(path, &o[i], test_option);
  }
  return g_test_run();
}
