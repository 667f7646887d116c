/* What a project changes: the dataset it is applied to stays as it was, every change is in what is read, and
 * a scan after a change is the scan a fresh look would give. */
#include <math.h>

#include "engine/core/label.h"
#include "engine/data/amend.h"
#include "engine/data/class_edit.h"
#include "engine/data/loader.h"
#include "engine/data/png_write.h"
#include "engine/data/scan.h"
#include "engine/data/scan_issues.h"
#include "tests/data/folders.h"

static TmClassTable *three_classes(void) {
  TmClassTable *t = tm_class_table_new(TM_MASK_INDEX);
  tm_class_table_add(t, "Ground", 0x101010, 0);
  tm_class_table_add(t, "Car", 0x202020, 1);
  tm_class_table_add(t, "Truck", 0x303030, 2);
  return t;
}

/* a: 0 1, b: 1 2, c: 0 255, d: 2 2. */
static void open_four(Folder *f) {
  put_pair(f->dir, "images/a.png", "masks/a.png", 0, 1);
  put_pair(f->dir, "images/b.png", "masks/b.png", 1, 2);
  put_pair(f->dir, "images/c.png", "masks/c.png", 0, 255);
  put_pair(f->dir, "images/d.png", "masks/d.png", 2, 2);
  g_autoptr(TmClassTable) t = three_classes();
  folder_open(f, &(TmDatasetOptions){.classes = t, .val_fraction = 0.25f});
}

static guint find(const TmDataset *d, const char *key) {
  for (guint i = 0; i < tm_dataset_n(d); i++) {
    g_autofree char *k = tm_dataset_key(d, i);
    if (strcmp(k, key) == 0) return i;
  }
  g_error("there is no “%s”", key);
}

/* Label at the left and the right of an entry. */
static void expect_labels(const TmDataset *d, const char *key, int left, int right) {
  g_auto(TmSample) s = {0};
  g_autoptr(GError) error = NULL;
  tm_dataset_read(d, find(d, key), &s, &error);
  g_assert_no_error(error);
  g_assert_cmpint(s.labels[0], ==, left);
  g_assert_cmpint(s.labels[s.w - 1], ==, right);
}

static void test_apply(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  tm_amend_leave_out(a, "images/b.png", TRUE);
  TmSplit splits[4] = {0};
  splits[find(f->d, "images/a.png")] = TM_SPLIT_TEST;
  splits[find(f->d, "images/c.png")] = TM_SPLIT_VAL;
  tm_amend_set_splits(a, f->d, f->d, splits);
  g_autofree char *hash = g_strdup(tm_dataset_hash(f->d));
  g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
  g_assert_cmpuint(tm_dataset_n(d), ==, 4);
  g_assert_cmpint(tm_dataset_entry(d, find(d, "images/a.png"))->split, ==, TM_SPLIT_TEST);
  g_assert_cmpint(tm_dataset_entry(d, find(d, "images/c.png"))->split, ==, TM_SPLIT_VAL);
  g_assert_cmpint(tm_dataset_entry(d, find(d, "images/d.png"))->split, ==, TM_SPLIT_TRAIN);
  g_assert_true(tm_dataset_entry(d, find(d, "images/b.png"))->left_out);
  g_assert_cmpuint(tm_dataset_n_split(d, TM_SPLIT_TRAIN), ==, 2);
  for (guint i = 1; i < 4; i++)
    g_assert_cmpint(tm_dataset_entry(d, i - 1)->split, <=, tm_dataset_entry(d, i)->split);
  g_assert_cmpstr(tm_dataset_hash(f->d), ==, hash); /* the base is as it was */
  g_assert_cmpstr(tm_dataset_hash(d), !=, hash);    /* and a run can tell */
  g_autoptr(TmAmend) none = tm_amend_new(NULL);
  g_autoptr(TmDataset) same = tm_amend_apply(none, f->d);
  g_assert_cmpstr(tm_dataset_hash(same), ==, hash);
}

/* Only what is not left out is trained on. */
static void test_loader(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  tm_amend_leave_out(a, "images/a.png", TRUE);
  tm_amend_leave_out(a, "images/c.png", TRUE);
  g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
  TmLoaderOptions o = {.split = TM_SPLIT_TRAIN, .batch = 1, .threads = 1};
  tm_augment_none(&o.augment);
  o.augment.crop_w = 16;
  o.augment.crop_h = 12;
  g_autoptr(TmLoader) l = tm_loader_new(d, &o, 0, 0, &f->error);
  g_assert_no_error(f->error);
  g_assert_cmpuint(tm_loader_steps(l), ==, 1);
  const TmBatch *b = tm_loader_next(l, &f->error);
  g_assert_no_error(f->error);
  g_assert_cmpuint(b->entries[0], ==, find(d, "images/b.png"));
}

static void test_classes(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  const TmClassTable *own = tm_dataset_classes(f->d);
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  tm_amend_set_classes(a, tm_class_table_merge(own, 2, 1, &f->error)); /* trucks are cars */
  g_assert_no_error(f->error);
  g_autoptr(TmDataset) merged = tm_amend_apply(a, f->d);
  g_assert_cmpuint(tm_dataset_classes(merged)->n, ==, 2);
  expect_labels(merged, "images/b.png", 1, 1);
  expect_labels(merged, "images/d.png", 1, 1);
  expect_labels(f->d, "images/d.png", 2, 2);
  tm_amend_set_classes(a, tm_class_table_drop(own, 0, &f->error)); /* ground is void */
  g_assert_no_error(f->error);
  g_autoptr(TmDataset) dropped = tm_amend_apply(a, f->d);
  expect_labels(dropped, "images/a.png", TM_VOID, 0);
  expect_labels(dropped, "images/b.png", 0, 1);
  tm_amend_set_classes(a, tm_class_table_give(own, 255, "Pole", &f->error));
  g_assert_no_error(f->error);
  g_autoptr(TmDataset) given = tm_amend_apply(a, f->d);
  expect_labels(given, "images/c.png", 0, 3);
}

static void test_class_limits(void) {
  g_autoptr(TmClassTable) t = three_classes();
  g_autoptr(GError) error = NULL;
  g_autoptr(TmClassTable) two = tm_class_table_merge(t, 0, 2, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(two->classes[1].name, ==, "Truck");
  g_assert_cmpint(tm_class_table_index(two, 0), ==, 1); /* ground is truck */
  g_assert_cmpint(tm_class_table_index(two, 1), ==, 0);
  g_assert_null(tm_class_table_merge(two, 0, 1, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_clear_error(&error);
  g_assert_null(tm_class_table_merge(t, 1, 1, &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  g_clear_error(&error);
  g_assert_null(tm_class_table_give(t, 2, "Again", &error));
  g_assert_error(error, TM_ERROR, TM_ERROR_SETTING);
  /* What was merged twice keeps all its values, through JSON, too. */
  g_autoptr(TmClassTable) four = tm_class_table_copy(t);
  tm_class_table_add(four, "Bus", 0x404040, 9);
  g_autoptr(TmClassTable) three = tm_class_table_merge(four, 3, 2, NULL);
  g_autoptr(TmClassTable) last = tm_class_table_merge(three, 2, 1, NULL);
  g_autoptr(JsonNode) node = tm_class_table_to_json(last);
  g_autoptr(TmClassTable) back = tm_class_table_from_json(node, NULL);
  g_assert_nonnull(back);
  g_assert_true(tm_class_table_same_labels(last, back));
  g_assert_false(tm_class_table_same_labels(last, t));
  for (int v = 0; v < 10; v++)
    g_assert_cmpint(tm_class_table_index(back, v), ==, v == 0 ? 0 : v == 1 || v == 2 || v == 9 ? 1 : -1);
}

/* A demo scene goes where its entry goes, and its labels follow the table, too. */
static void test_demo(void) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmDataset) d = tm_dataset_open(
      "demo", &(TmDatasetOptions){.demo_train = 3, .demo_val = 2, .demo_width = 64, .demo_height = 48},
      &error);
  g_assert_no_error(error);
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  TmSplit splits[5] = {TM_SPLIT_VAL, TM_SPLIT_TRAIN, TM_SPLIT_TEST, TM_SPLIT_TRAIN, TM_SPLIT_VAL};
  tm_amend_set_splits(a, d, d, splits);
  tm_amend_set_classes(a, tm_class_table_drop(tm_dataset_classes(d), 3, &error));
  g_assert_no_error(error);
  g_autoptr(TmDataset) moved = tm_amend_apply(a, d);
  guint road = 0;
  for (guint i = 0; i < 5; i++) {
    g_auto(TmSample) was = {0}, is = {0};
    const guint k = find(moved, tm_dataset_entry(d, i)->name);
    g_assert_true(tm_dataset_read(d, i, &was, &error) && tm_dataset_read(moved, k, &is, &error));
    g_assert_cmpmem(was.rgb, 64 * 48 * 3, is.rgb, 64 * 48 * 3);
    g_assert_cmpint(tm_dataset_entry(moved, k)->split, ==, splits[i]);
    for (guint p = 0; p < 64 * 48; p++) {
      const guint8 l = was.labels[p];
      g_assert_cmpuint(is.labels[p], ==, l == 3 ? TM_VOID : l == TM_VOID ? TM_VOID : l > 3 ? l - 1 : l);
      road += l == 3;
    }
  }
  g_assert_cmpuint(road, >, 0);
}

static void paint(const TmAmend *a, const char *key, guint version, int w, int h, const guint8 *px) {
  g_autofree char *path = tm_amend_layer(a, key, version);
  const guint32 palette[2] = {0, 0xffffff};
  g_autoptr(GError) error = NULL;
  tm_png_write_index(path, px, w, h, palette, 2, &error);
  g_assert_no_error(error);
  g_hash_table_insert(a->painted, g_strdup(key), GUINT_TO_POINTER(version));
}

static void test_painted(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  g_autofree char *layers = tmp_new();
  g_autoptr(TmAmend) a = tm_amend_new(layers);
  guint8 px[16 * 12] = {0};
  px[0] = 1;
  paint(a, "images/d.png", 1, 16, 12, px);
  g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
  expect_labels(d, "images/d.png", TM_VOID, 2);
  expect_labels(f->d, "images/d.png", 2, 2);
  g_assert_cmpstr(tm_dataset_hash(d), !=, tm_dataset_hash(f->d));
  g_autoptr(TmScan) s = tm_scan_run(d, 1, NULL, NULL, &f->error);
  g_assert_no_error(f->error);
  g_assert_cmpuint(s->entries[find(d, "images/d.png")].pixels[3], ==, 1);
  /* Painting on makes a new version, which is read; the old one is there to go back to. */
  px[15] = 1;
  g_autoptr(TmAmend) next = tm_amend_copy(a);
  paint(next, "images/d.png", 2, 16, 12, px);
  g_autoptr(TmDataset) again = tm_amend_apply(next, f->d);
  expect_labels(again, "images/d.png", TM_VOID, TM_VOID);
  expect_labels(d, "images/d.png", TM_VOID, 2);
  g_autoptr(TmScan) second = tm_scan_again(s, d, again, 1, NULL, NULL, &f->error);
  g_assert_cmpuint(second->entries[find(again, "images/d.png")].pixels[3], ==, 2);
  /* A layer of another size is told, with its file. */
  paint(a, "images/d.png", 1, 8, 12, px);
  g_auto(TmSample) sample = {0};
  g_assert_false(tm_dataset_read(d, find(d, "images/d.png"), &sample, &f->error));
  g_assert_error(f->error, TM_ERROR, TM_ERROR_DATA);
  g_assert_nonnull(strstr(f->error->message, layers));
  tmp_remove(g_steal_pointer(&layers));
}

static void test_json(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  g_autoptr(TmAmend) a = tm_amend_new("/somewhere");
  tm_amend_leave_out(a, "images/a.png", TRUE);
  tm_amend_leave_out(a, "images/c.png", TRUE);
  tm_amend_leave_out(a, "images/c.png", FALSE);
  TmSplit splits[4] = {TM_SPLIT_VAL, TM_SPLIT_TEST, TM_SPLIT_TRAIN, TM_SPLIT_VAL};
  tm_amend_set_splits(a, f->d, f->d, splits);
  tm_amend_set_classes(a, tm_class_table_merge(tm_dataset_classes(f->d), 1, 2, NULL));
  g_hash_table_insert(a->painted, g_strdup("images/b.png"), GUINT_TO_POINTER(7));
  g_autoptr(JsonObject) o = json_object_new();
  tm_amend_to_json(a, o);
  g_autoptr(TmAmend) back = tm_amend_from_json(o, "/somewhere", &f->error);
  g_assert_no_error(f->error);
  g_autoptr(TmDataset) x = tm_amend_apply(a, f->d), y = tm_amend_apply(back, f->d);
  g_assert_cmpstr(tm_dataset_hash(x), ==, tm_dataset_hash(y));
  for (guint i = 0; i < 4; i++) {
    const TmEntry *p = tm_dataset_entry(x, i), *q = tm_dataset_entry(y, i);
    g_assert_cmpstr(p->image, ==, q->image);
    g_assert_cmpstr(p->layer, ==, q->layer);
    g_assert_cmpint(p->split, ==, q->split);
    g_assert_cmpint(p->left_out, ==, q->left_out);
  }
  g_assert_true(tm_class_table_same_labels(tm_dataset_classes(x), tm_dataset_classes(y)));
}

static void test_bad_json(void) {
  const char *const bad[] = {"{\"left_out\": 3}",
                             "{\"left_out\": [1]}",
                             "{\"splits\": []}",
                             "{\"splits\": {\"val\": 1}}",
                             "{\"painted\": [\"a\"]}",
                             "{\"painted\": {\"a\": 0}}",
                             "{\"painted\": {\"a\": \"b\"}}",
                             "{\"classes\": 1}",
                             "{\"classes\": {\"code\": \"index\", \"classes\": []}}"};
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(JsonNode) node = json_from_string(bad[i], NULL);
    g_autoptr(GError) error = NULL;
    g_assert_null(tm_amend_from_json(json_node_get_object(node), NULL, &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  }
}

static void expect_same_scan(const TmScan *a, const TmScan *b, guint n_classes) {
  g_assert_cmpmem(a->pixels, sizeof a->pixels, b->pixels, sizeof b->pixels);
  g_assert_cmpmem(a->pictures, sizeof a->pictures, b->pictures, sizeof b->pictures);
  g_assert_cmpmem(a->mean, sizeof a->mean, b->mean, sizeof b->mean);
  g_assert_cmpmem(a->std, sizeof a->std, b->std, sizeof b->std);
  g_assert_cmpuint(a->n_left_out, ==, b->n_left_out);
  g_assert_cmpuint(a->findings->len, ==, b->findings->len);
  for (guint i = 0; i < a->findings->len; i++) {
    const TmFinding *x = a->findings->pdata[i], *y = b->findings->pdata[i];
    g_assert_cmpstr(x->text, ==, y->text);
    g_assert_cmpuint(x->entry, ==, y->entry);
  }
  for (guint i = 0; i < a->n_entries; i++)
    g_assert_cmpmem(a->entries[i].pixels, (n_classes + 1) * 4, b->entries[i].pixels, (n_classes + 1) * 4);
}

/* A mask that is cut is not read again when only the splits change: what is known of it stays. */
static void test_scan_again(Folder *f, gconstpointer data) {
  (void)data;
  open_four(f);
  g_autoptr(TmScan) first = tm_scan_run(f->d, 2, NULL, NULL, &f->error);
  g_assert_no_error(f->error);
  for (int kind = 0; kind < 3; kind++) {
    g_autoptr(TmAmend) a = tm_amend_new(NULL);
    TmSplit splits[4] = {TM_SPLIT_VAL, TM_SPLIT_TRAIN, TM_SPLIT_VAL, TM_SPLIT_TRAIN};
    tm_amend_set_splits(a, f->d, f->d, splits);
    if (kind == 1) tm_amend_leave_out(a, "images/b.png", TRUE);
    if (kind == 2) tm_amend_set_classes(a, tm_class_table_merge(tm_dataset_classes(f->d), 2, 1, NULL));
    g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
    g_autoptr(TmScan) fresh = tm_scan_run(d, 1, NULL, NULL, &f->error),
                      again = tm_scan_again(first, f->d, d, 2, NULL, NULL, &f->error);
    g_assert_no_error(f->error);
    expect_same_scan(fresh, again, tm_dataset_classes(d)->n);
  }
  put_text(f->dir, "masks/a.png", "no mask");
  g_autoptr(TmAmend) a = tm_amend_new(NULL);
  tm_amend_leave_out(a, "images/b.png", TRUE);
  g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
  g_autoptr(TmScan) again = tm_scan_again(first, f->d, d, 1, NULL, NULL, &f->error);
  g_assert_true(again->entries[find(d, "images/a.png")].usable);
  g_assert_cmpuint(again->n_left_out, ==, 1);
}

static const TmIssue *issue(GPtrArray *all, TmFix fix, const char *words) {
  for (guint i = 0; i < all->len; i++) {
    const TmIssue *x = all->pdata[i];
    if (x->fix == fix && strstr(x->text, words)) return x;
  }
  return NULL;
}

/* Each fix makes its issue go away, in a scan from anew, too; the folder is as it was. */
static void test_fixes(Folder *f, gconstpointer data) {
  (void)data;
  put_picture(f->dir, "images/e.png", 16, 12);
  put_grey(f->dir, "masks/e.png", 10, 12, NULL, 0); /* another size */
  put_picture(f->dir, "images/g.png", 16, 12);      /* no mask */
  open_four(f);
  g_autoptr(TmScan) s = tm_scan_run(f->d, 1, NULL, NULL, &f->error);
  g_autoptr(GPtrArray) before = tm_scan_issues(s, f->d, NULL);
  const struct {
    TmFix fix;
    const char *words;
  } wanted[] = {{TM_FIX_MAP_VOID, "1 mask holds value 255"},
                {TM_FIX_LEAVE_OUT, "another size"},
                {TM_FIX_LEAVE_OUT, "no mask"}};
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    const TmIssue *x = issue(before, wanted[i].fix, wanted[i].words);
    if (!x) g_error("nothing says “%s”", wanted[i].words);
    g_assert_cmpuint(x->entries->len, ==, 1);
    g_autoptr(TmAmend) a = tm_amend_new(NULL);
    g_assert_true(tm_issue_fix(x, f->d, f->d, a));
    g_autoptr(TmDataset) d = tm_amend_apply(a, f->d);
    g_autoptr(TmScan) after = tm_scan_run(d, 1, NULL, NULL, &f->error);
    g_autoptr(GPtrArray) left = tm_scan_issues(after, d, NULL);
    g_assert_null(issue(left, wanted[i].fix, wanted[i].words));
    g_assert_cmpuint(left->len, ==, before->len - 1);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  FOLDER_TEST("/amend/apply", test_apply);
  FOLDER_TEST("/amend/loader", test_loader);
  FOLDER_TEST("/amend/classes", test_classes);
  g_test_add_func("/amend/class-limits", test_class_limits);
  g_test_add_func("/amend/demo", test_demo);
  FOLDER_TEST("/amend/painted", test_painted);
  FOLDER_TEST("/amend/json", test_json);
  g_test_add_func("/amend/bad-json", test_bad_json);
  FOLDER_TEST("/amend/scan-again", test_scan_again);
  FOLDER_TEST("/amend/fixes", test_fixes);
  return g_test_run();
}
