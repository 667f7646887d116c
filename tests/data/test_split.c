/* Splits: whole drives stay together, shares are kept as well as drives allow, and small datasets are no
 * special case for anybody else. */
#include "engine/data/split.h"
#include "tests/data/folders.h"

static void test_names(void) {
  const struct {
    const char *name, *drive;
  } cases[] = {{"0016E5_08043", "0016E5"},
               {"Seq05VD_f00900", "Seq05VD"},
               {"aachen_000000_000019_leftImg8bit", "aachen_000000"},
               {"000123", ""},
               {"frame-7", "frame"},
               {"morning.run 12", "morning.run"},
               {"noname", "noname"},
               {"", ""},
               {"f00012", ""},
               {"道路_0001", "道路"}};
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *drive = tm_sequence_name(cases[i].name);
    g_assert_cmpstr(drive, ==, cases[i].drive);
  }
}

static void put_drive(Folder *f, const char *drive, int n) {
  for (int i = 0; i < n; i++) {
    g_autofree char *image = g_strdup_printf("images/%s_%04d.png", drive, i),
                    *mask = g_strdup_printf("masks/%s_%04d.png", drive, i);
    put_pair(f->dir, image, mask, 0, 1);
  }
}

static void count(const TmDataset *d, const TmSplit *s, guint n[TM_N_SPLITS]) {
  n[0] = n[1] = n[2] = 0;
  for (guint i = 0; i < tm_dataset_n(d); i++) n[s[i]]++;
}

static void test_drives(Folder *f, gconstpointer data) {
  (void)data;
  put_drive(f, "a", 12);
  put_drive(f, "b", 5);
  put_drive(f, "c", 4);
  put_drive(f, "d", 1);
  folder_open(f, NULL);
  g_assert_cmpuint(tm_sequence_count(f->d), ==, 4);
  g_autofree TmSplit *s = tm_split_by_sequence(f->d, 0.2, 0.2);
  g_autoptr(GHashTable) where = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < tm_dataset_n(f->d); i++) {
    char *drive = tm_sequence_name(tm_dataset_entry(f->d, i)->name);
    gpointer other;
    if (g_hash_table_lookup_extended(where, drive, NULL, &other))
      g_assert_cmpuint(GPOINTER_TO_UINT(other), ==, s[i]);
    g_hash_table_insert(where, drive, GUINT_TO_POINTER(s[i]));
  }
  guint n[TM_N_SPLITS];
  count(f->d, s, n);
  g_assert_cmpuint(n[TM_SPLIT_TRAIN], ==, 13);
  g_assert_cmpuint(n[TM_SPLIT_VAL] + n[TM_SPLIT_TEST], ==, 9);
  g_assert_cmpuint(MIN(n[TM_SPLIT_VAL], n[TM_SPLIT_TEST]), ==, 4);
}

/* One drive: the end of it is cut off, not every fifth picture. */
static void test_one_drive(Folder *f, gconstpointer data) {
  (void)data;
  put_drive(f, "a", 10);
  folder_open(f, NULL);
  g_autofree TmSplit *s = tm_split_by_sequence(f->d, 0.2, 0);
  guint n[TM_N_SPLITS];
  count(f->d, s, n);
  g_assert_cmpuint(n[TM_SPLIT_TRAIN], ==, 8);
  g_assert_cmpuint(n[TM_SPLIT_VAL], ==, 2);
  for (guint i = 0; i < 10; i++)
    if (s[i] == TM_SPLIT_VAL) g_assert_cmpstr(tm_dataset_entry(f->d, i)->name, >=, "a_0008");
}

static void test_few(Folder *f, gconstpointer data) {
  (void)data;
  for (int n = 1; n <= 3; n++) {
    g_autofree char *name = g_strdup_printf("%c", 'a' + n);
    put_drive(f, name, 1);
    folder_open(f, NULL);
    for (int way = 0; way < 2; way++) {
      g_autofree TmSplit *s =
          way ? tm_split_by_chance(f->d, 0.9, 0.9, 1) : tm_split_by_sequence(f->d, 0.9, 0.9);
      guint c[TM_N_SPLITS];
      count(f->d, s, c);
      g_assert_cmpuint(c[TM_SPLIT_TRAIN], >=, 1); /* training always keeps one */
      g_assert_cmpuint(c[0] + c[1] + c[2], ==, (guint)n);
      if (n > 1) g_assert_cmpuint(c[TM_SPLIT_VAL], >=, 1);
    }
  }
}

static void test_chance(Folder *f, gconstpointer data) {
  (void)data;
  put_drive(f, "a", 40);
  folder_open(f, NULL);
  g_autofree TmSplit *a = tm_split_by_chance(f->d, 0.25, 0.1, 3), *b = tm_split_by_chance(f->d, 0.25, 0.1, 3),
                     *c = tm_split_by_chance(f->d, 0.25, 0.1, 4);
  guint n[TM_N_SPLITS];
  count(f->d, a, n);
  g_assert_cmpuint(n[TM_SPLIT_VAL], ==, 10);
  g_assert_cmpuint(n[TM_SPLIT_TEST], ==, 4);
  g_assert_cmpmem(a, 40 * sizeof *a, b, 40 * sizeof *b);
  g_assert_cmpint(memcmp(a, c, 40 * sizeof *a), !=, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/split/names", test_names);
  FOLDER_TEST("/split/drives", test_drives);
  FOLDER_TEST("/split/one-drive", test_one_drive);
  FOLDER_TEST("/split/few", test_few);
  FOLDER_TEST("/split/chance", test_chance);
  return g_test_run();
}
