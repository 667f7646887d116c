/* test_checkpoint.c: what goes into a checkpoint comes out, and what is not whole is noticed. */
#include "tests/run/run_test.h"

#include <sys/stat.h>

static void assert_same(const TmTensor *a, const TmTensor *b) {
  g_assert_nonnull(a);
  g_assert_true(tm_shape_equal(a->shape, b->shape));
  g_assert_cmpint(memcmp(a->data, b->data, tm_tensor_bytes(a)), ==, 0);
}

static void test_round_trip(void) {
  const TmShape shapes[] = {{4, 3, 3, 3}, {1, 4, 1, 1},  {1, 1, 1, 1}, {1, 5, 1, 1},
                            {8, 4, 2, 2}, {11, 4, 1, 1}, {1, 1, 3, 2}, {2, 3, 5, 7}};
  const char *const names[] = {"a.weight",    "b.weight",     "b.running_mean",
                               "head.weight", "up.0.weight",  "ümläut \"q\" \\ \n",
                               "g",           "optimizer.m.a"};
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    tm_checkpoint_add(c, names[i], rt_tensor(shapes[i], 0.1f * (float)i));
  json_object_set_string_member(tm_checkpoint_meta(c), "text",
                                "quote \" slash \\ line\nünicode 道 \"crc32\":\"");
  json_object_set_double_member(tm_checkpoint_meta(c), "third", 1.0 / 3.0);
  json_object_set_double_member(tm_checkpoint_meta(c), "nan", (double)NAN);
  json_object_set_int_member(tm_checkpoint_meta(c), "big", G_MAXINT64);
  g_assert_true(tm_checkpoint_write(c, path, &error));
  g_assert_no_error(error);
  g_autoptr(TmCheckpoint) r = tm_checkpoint_read(path, &error);
  g_assert_no_error(error);
  g_auto(GStrv) read_names = tm_checkpoint_names(r);
  g_assert_cmpuint(g_strv_length(read_names), ==, G_N_ELEMENTS(names));
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    g_assert_cmpstr(read_names[i], ==, names[i]);
    assert_same(tm_checkpoint_tensor(r, names[i]), tm_checkpoint_tensor(c, names[i]));
  }
  JsonObject *meta = tm_checkpoint_meta(r);
  g_assert_cmpstr(json_object_get_string_member(meta, "text"), ==,
                  "quote \" slash \\ line\nünicode 道 \"crc32\":\"");
  g_assert_cmpfloat(json_object_get_double_member(meta, "third"), ==, 1.0 / 3.0);
  g_assert_true(json_object_get_null_member(meta, "nan"));
  g_assert_cmpint(json_object_get_int_member(meta, "big"), ==, G_MAXINT64);
  g_assert_null(tm_checkpoint_tensor(r, "none"));
  g_assert_cmpuint(rt_count(folder), ==, 1);
  rt_remove(folder);
}

static void test_empty(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  g_assert_true(tm_checkpoint_write(c, path, &error));
  g_autoptr(TmCheckpoint) r = tm_checkpoint_read(path, &error);
  g_assert_no_error(error);
  g_auto(GStrv) names = tm_checkpoint_names(r);
  g_assert_cmpuint(g_strv_length(names), ==, 0);
  rt_remove(folder);
}

static void test_replaces(void) {
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  tm_checkpoint_add(c, "x", rt_tensor(TM_SHAPE(1, 2, 1, 1), 1));
  tm_checkpoint_add(c, "x", rt_tensor(TM_SHAPE(1, 3, 1, 1), 2));
  g_auto(GStrv) names = tm_checkpoint_names(c);
  g_assert_cmpuint(g_strv_length(names), ==, 1);
  g_assert_cmpint(tm_checkpoint_tensor(c, "x")->shape.c, ==, 3);
}

/* The bytes of the file of a small checkpoint. */
static char *small_file(const char *path, gsize *size) {
  g_autoptr(TmCheckpoint) c = rt_checkpoint(7);
  g_autoptr(GError) error = NULL;
  g_assert_true(tm_checkpoint_write(c, path, &error));
  return rt_read(path, size);
}

static void assert_corrupt(const char *path, const char *name) {
  g_autoptr(GError) error = NULL;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
  if (c) g_printerr("not noticed: %s\n", name);
  g_assert_null(c);
  g_assert_error(error, TM_ERROR, TM_ERROR_CORRUPT);
  g_assert_nonnull(strstr(error->message, path));
}

static void test_truncated(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  gsize size;
  g_autofree char *whole = small_file(path, &size);
  for (gsize n = 0; n < size; n++) {
    g_autofree char *name = g_strdup_printf("cut to %zu bytes", n);
    rt_write(path, whole, n);
    assert_corrupt(path, name);
  }
  g_autofree char *longer = g_malloc0(size + 1);
  memcpy(longer, whole, size);
  rt_write(path, longer, size + 1);
  assert_corrupt(path, "one byte more");
  rt_remove(folder);
}

static void test_flipped(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  gsize size;
  g_autofree char *whole = small_file(path, &size);
  const guint8 flips[] = {0x01, 0x04, 0x20, 0x80, 0xff};
  for (gsize i = 0; i < size; i++)
    for (guint k = 0; k < G_N_ELEMENTS(flips); k++) {
      whole[i] = (char)(whole[i] ^ flips[k]);
      rt_write(path, whole, size);
      whole[i] = (char)(whole[i] ^ flips[k]);
      g_autoptr(GError) error = NULL;
      g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
      if (c) g_printerr("byte %zu ^ %02x not noticed\n", i, flips[k]);
      g_assert_null(c);
      /* A flipped letter of "F32" is a type that is not known, which is as good. */
      g_assert_true(g_error_matches(error, TM_ERROR, TM_ERROR_CORRUPT) ||
                    g_error_matches(error, TM_ERROR, TM_ERROR_UNSUPPORTED));
    }
  rt_remove(folder);
}

/* A file by another program: header text and so many bytes of 0x3f behind it. */
static void write_foreign(const char *path, const char *header, gsize data) {
  const guint64 n = GUINT64_TO_LE((guint64)strlen(header));
  g_autoptr(GByteArray) b = g_byte_array_new();
  g_byte_array_append(b, (const guint8 *)&n, 8);
  g_byte_array_append(b, (const guint8 *)header, (guint)strlen(header));
  for (gsize i = 0; i < data; i++) g_byte_array_append(b, (const guint8 *)"?", 1);
  rt_write(path, b->data, b->len);
}

static void test_hostile(void) {
#define T(shape, from, to)                                                                                   \
  "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}}"
  static const struct {
    const char *header;
    gsize data;
    int code;
  } cases[] = {
      {"", 0, TM_ERROR_CORRUPT},
      {"[]", 0, TM_ERROR_CORRUPT},
      {"3", 0, TM_ERROR_CORRUPT},
      {"{", 0, TM_ERROR_CORRUPT},
      {"{\"a\":1}", 0, TM_ERROR_CORRUPT},
      {"{\"a\":{}}", 0, TM_ERROR_CORRUPT},
      {"{\"a\":{\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, TM_ERROR_CORRUPT},
      {"{\"a\":{\"dtype\":\"F99\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, TM_ERROR_UNSUPPORTED},
      {T("[2]", "0", "4"), 4, TM_ERROR_CORRUPT},                    /* longer shape than data */
      {T("[1]", "0", "8"), 8, TM_ERROR_CORRUPT},                    /* shorter */
      {T("[1]", "4", "8"), 8, TM_ERROR_CORRUPT},                    /* a hole before */
      {T("[1]", "0", "4"), 5, TM_ERROR_CORRUPT},                    /* more behind */
      {T("[1]", "0", "4"), 3, TM_ERROR_CORRUPT},                    /* beyond the end */
      {T("[1]", "4", "0"), 4, TM_ERROR_CORRUPT},                    /* backwards */
      {T("[1]", "-4", "0"), 4, TM_ERROR_CORRUPT},                   /* before the start */
      {T("[1]", "0", "18446744073709551615"), 4, TM_ERROR_CORRUPT}, /* wraps to -1 */
      {T("[1]", "0", "9223372036854775807"), 4, TM_ERROR_CORRUPT},
      {T("[1]", "0.0", "4.0"), 4, TM_ERROR_CORRUPT},
      {T("[1]", "0", "4,8"), 4, TM_ERROR_CORRUPT},
      {T("[-1]", "0", "4"), 4, TM_ERROR_CORRUPT},
      {T("[0]", "0", "0"), 0, TM_ERROR_UNSUPPORTED},
      {T("{}", "0", "4"), 4, TM_ERROR_CORRUPT},
      {T("[\"1\"]", "0", "4"), 4, TM_ERROR_CORRUPT},
      {T("[2147483647,2147483647,2147483647,2147483647]", "0", "4"), 4,
       TM_ERROR_CORRUPT},                                              /* product overflows */
      {T("[65536,65536,65536,65536]", "0", "0"), 0, TM_ERROR_CORRUPT}, /* product is 2^64: 0 when wrapped */
      {T("[4294967297]", "0", "4"), 4, TM_ERROR_UNSUPPORTED},          /* 1 when cut to 32 bits */
      {T("[1,1,1,1,1]", "0", "4"), 4, TM_ERROR_UNSUPPORTED},
      {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":["
       "1],\"data_offsets\":[2,6]}}",
       6, TM_ERROR_CORRUPT}, /* overlap */
      {"{\"__metadata__\":3}", 0, TM_ERROR_CORRUPT},
      {"{\"__metadata__\":{\"tarmac\":\"{}\"}}", 0, TM_ERROR_CORRUPT}, /* ours, without its checksum */
      {"{\"__metadata__\":{\"tarmac\":\"{}\",\"crc32\":\"00000000\"}}", 0, TM_ERROR_CORRUPT},
      {"\xff\xfe", 0, TM_ERROR_CORRUPT},
  };
#undef T
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    write_foreign(path, cases[i].header, cases[i].data);
    g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
    if (c || error->code != cases[i].code)
      g_printerr("%s: %s\n", cases[i].header, error ? error->message : "read");
    g_assert_null(c);
    g_assert_error(error, TM_ERROR, cases[i].code);
    g_assert_nonnull(strstr(error->message, path));
  }
  rt_remove(folder);
}

/* A header that says it is longer than the file, or than any header; nesting that would eat the stack; a
 * million values. */
static void test_bombs(void) {
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  const guint64 lengths[] = {1, 100, 100000001, G_MAXUINT64, G_MAXINT64};
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    const guint64 n = GUINT64_TO_LE(lengths[i]);
    rt_write(path, &n, 8);
    assert_corrupt(path, "header length");
  }
  GString *deep = g_string_new(NULL), *wide = g_string_new("{\"a\":[0");
  for (int i = 0; i < 3000000; i++) g_string_append(deep, "[");
  for (int i = 0; i < 3000000; i++) g_string_append(wide, ",0");
  g_string_append(wide, "]}");
  write_foreign(path, deep->str, 0);
  assert_corrupt(path, "nesting");
  write_foreign(path, wide->str, 0);
  assert_corrupt(path, "width");
  g_string_free(deep, TRUE);
  g_string_free(wide, TRUE);
  rt_remove(folder);
}

static void test_types(void) {
  static const struct {
    const char *type;
    guint8 bytes[8];
    gsize size;
    float value;
  } cases[] = {
      {"F64", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 8, 1.5f},
      {"F32", {0, 0, 0xc0, 0x3f}, 4, 1.5f},
      {"F16", {0, 0x3e}, 2, 1.5f},
      {"F16", {1, 0}, 2, 0x1p-24f},
      {"F16", {0xff, 0xfb}, 2, -65504},
      {"BF16", {0xc0, 0x3f}, 2, 1.5f},
      {"I64", {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 8, -2},
      {"U64", {0, 0, 0, 0, 1}, 8, 0x1p32f},
      {"I32", {0xfd, 0xff, 0xff, 0xff}, 4, -3},
      {"U32", {0, 0, 0, 0x80}, 4, 0x1p31f},
      {"I16", {0xff, 0xff}, 2, -1},
      {"U16", {0xff, 0xff}, 2, 65535},
      {"I8", {0x80}, 1, -128},
      {"U8", {0x80}, 1, 128},
      {"BOOL", {1}, 1, 1},
  };
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *header =
        g_strdup_printf("{ \"__metadata__\" : {\"format\":\"pt\"},\n "
                        "\"a\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[0,%zu]}}",
                        cases[i].type, cases[i].size);
    const guint64 n = GUINT64_TO_LE((guint64)strlen(header));
    g_autoptr(GByteArray) b = g_byte_array_new();
    g_byte_array_append(b, (const guint8 *)&n, 8);
    g_byte_array_append(b, (const guint8 *)header, (guint)strlen(header));
    g_byte_array_append(b, cases[i].bytes, (guint)cases[i].size);
    rt_write(path, b->data, b->len);
    g_autoptr(GError) error = NULL;
    g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
    g_assert_no_error(error);
    const TmTensor *t = tm_checkpoint_tensor(c, "a");
    g_assert_cmpint(t->dtype, ==, TM_F32);
    g_assert_cmpfloat(*(const float *)t->data, ==, cases[i].value);
    g_assert_cmpuint(json_object_get_size(tm_checkpoint_meta(c)), ==, 0);
  }
  rt_remove(folder);
}

static void test_no_file(void) {
  g_autofree char *folder = rt_folder(), *none = g_build_filename(folder, "none", NULL),
                  *pipe_path = g_build_filename(folder, "pipe", NULL);
  g_assert_cmpint(mkfifo(pipe_path, 0600), ==, 0);
  const char *const paths[] = {none, folder, pipe_path}; /* a pipe must not make us wait */
  for (guint i = 0; i < G_N_ELEMENTS(paths); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(tm_checkpoint_read(paths[i], &error));
    g_assert_error(error, TM_ERROR, TM_ERROR_FILE);
    g_assert_nonnull(strstr(error->message, paths[i]));
  }
  rt_remove(folder);
}

static void test_torch(void) {
  const char *shared = g_getenv("TM_SHARED");
  g_autofree char *path =
      g_build_filename(shared ? shared : "../shared", "data", "torch_unet_step_base4.safetensors", NULL);
  if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
    g_autofree char *why = g_strdup_printf("%s is not there: set TM_SHARED", path);
    g_test_skip(why);
    return;
  }
  g_autoptr(GError) error = NULL;
  g_autoptr(TmCheckpoint) c = tm_checkpoint_read(path, &error);
  g_assert_no_error(error);
  g_auto(GStrv) names = tm_checkpoint_names(c);
  g_assert_cmpuint(g_strv_length(names), ==, 245);
  const TmTensor *w = tm_checkpoint_tensor(c, "weight.enc.1.0.weight"),
                 *y = tm_checkpoint_tensor(c, "target"), *loss = tm_checkpoint_tensor(c, "loss");
  g_assert_true(tm_shape_equal(w->shape, TM_SHAPE(8, 4, 3, 3)));
  g_assert_true(tm_shape_equal(y->shape, TM_SHAPE(2, 1, 64, 96)));
  g_assert_true(tm_shape_equal(loss->shape, TM_SHAPE(1, 1, 1, 1)));
  g_assert_true(
      tm_shape_equal(tm_checkpoint_tensor(c, "weight.enc.0.1.running_var")->shape, TM_SHAPE(1, 4, 1, 1)));
  for (gsize i = 0; i < tm_shape_count(y->shape); i++) {
    const float v = ((const float *)y->data)[i];
    g_assert_true(v >= 0 && v <= 11 && v == (float)(int)v);
  }
  /* The loss follows from logits and target: that ties orders and types of three tensors together. */
  const TmTensor *z = tm_checkpoint_tensor(c, "logits");
  double sum = 0;
  gsize judged = 0;
  for (gsize p = 0; p < tm_shape_pixels(z->shape); p++) {
    const float *x = (const float *)z->data + p * 11;
    const int label = (int)((const float *)y->data)[p];
    if (label == 11) continue;
    double e = 0;
    for (int k = 0; k < 11; k++) e += exp((double)x[k]);
    sum += log(e) - (double)x[label];
    judged++;
  }
  g_assert_cmpfloat_with_epsilon(sum / (double)judged, (double)*(const float *)loss->data, 1e-5);
}

static void test_python_reads(void) {
  g_autofree char *python = rt_python();
  if (!python) return;
  static const char script[] =
      "import sys, json\n"
      "from safetensors import safe_open\n"
      "f = safe_open(sys.argv[1], 'np')\n"
      "print(list(f.keys()))\n"
      "w = f.get_tensor('conv.weight'); assert w.shape == (2, 3, 1, 2), w.shape\n"
      /* stored N,H,W,C from 0: element (n,c,h,w) is ((n*1+h)*2+w)*3+c */
      "assert all(w[n, c, 0, x] == (n * 2 + x) * 3 + c for n in range(2) for c in range(3) for x in "
      "range(2)), w\n"
      "g = f.get_tensor('bn.weight'); assert g.shape == (4,) and list(g) == [1, 2, 3, 4]\n"
      "h = f.get_tensor('head.weight'); assert h.shape == (1, 4, 1, 1), h.shape\n"
      "b = f.get_tensor('head.bias'); assert b.shape == (1,), b.shape\n"
      "m = json.loads(f.metadata()['tarmac']); assert m['name'] == 'Straße \"1\"' and m['bad'] is None, m\n";
  g_autofree char *folder = rt_folder(), *path = g_build_filename(folder, "a.safetensors", NULL);
  g_autoptr(TmCheckpoint) c = tm_checkpoint_new();
  g_autoptr(GError) error = NULL;
  tm_checkpoint_add(c, "conv.weight", rt_tensor(TM_SHAPE(2, 3, 1, 2), 0));
  tm_checkpoint_add(c, "bn.weight", rt_tensor(TM_SHAPE(1, 4, 1, 1), 1));
  tm_checkpoint_add(c, "bn.running_mean", rt_tensor(TM_SHAPE(1, 4, 1, 1), 1));
  tm_checkpoint_add(c, "head.weight", rt_tensor(TM_SHAPE(1, 4, 1, 1), 1)); /* one class */
  tm_checkpoint_add(c, "head.bias", rt_tensor(TM_SHAPE(1, 1, 1, 1), 1));
  json_object_set_string_member(tm_checkpoint_meta(c), "name", "Straße \"1\"");
  json_object_set_double_member(tm_checkpoint_meta(c), "bad", (double)INFINITY);
  g_assert_true(tm_checkpoint_write(c, path, &error));
  g_autofree char *out = rt_run((const char *[]){python, "-c", script, path, NULL});
  g_assert_nonnull(strstr(out, "conv.weight"));
  rt_remove(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/checkpoint/round-trip", test_round_trip);
  g_test_add_func("/checkpoint/empty", test_empty);
  g_test_add_func("/checkpoint/same-name-replaces", test_replaces);
  g_test_add_func("/checkpoint/truncated-at-every-length", test_truncated);
  g_test_add_func("/checkpoint/every-byte-flipped", test_flipped);
  g_test_add_func("/checkpoint/hostile-headers", test_hostile);
  g_test_add_func("/checkpoint/bombs", test_bombs);
  g_test_add_func("/checkpoint/types-of-others", test_types);
  g_test_add_func("/checkpoint/not-a-file", test_no_file);
  g_test_add_func("/checkpoint/reads-pytorch", test_torch);
  g_test_add_func("/checkpoint/python-reads-ours", test_python_reads);
  return g_test_run();
}
