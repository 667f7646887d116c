/* test_doctor.c: what "tarmac doctor" says on machines whose GPU cannot be used, each with its way out, and
 * that training on the processor goes on all the same. The machines are made of stand-ins: the CUDA runtime
 * says what FAKE_CUDA tells it, NVML is a file of ours or missing. */
#include <string.h>

#include <gio/gio.h>
#include <json-glib/json-glib.h>

static const char *program, *modules, *nvml,
    *cudnn; /* the last: a folder with a cuDNN that lacks everything */

typedef struct {
  const char *name, *cuda, *says, *readings; /* readings: NULL: there are some */
  gboolean nvml, cudnn;
} Machine;

static const Machine machines[] = {
    {"no-driver", "error=35 driver=0", "There is no NVIDIA driver", "libnvidia-ml.so.1", FALSE, FALSE},
    {"old-driver", "error=35 driver=11040", "supports CUDA 11.4, but 13.0 is needed", NULL, TRUE, FALSE},
    {"no-uvm", "error=999", "/dev/nvidia-uvm is missing: run nvidia-modprobe -u", NULL, TRUE, FALSE},
    {"no-nvml", "", "too old", "libnvidia-ml.so.1", FALSE, TRUE},
    {"no-cudnn", "", "cuDNN is not installed", NULL, TRUE, FALSE},
};

/* Runs the program on @m; its standard output, which the caller frees. */
static char *run(const Machine *m, const char *const *words) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GSubprocessLauncher) l =
      g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  g_subprocess_launcher_setenv(l, "TARMAC_MODULES", modules, TRUE);
  g_subprocess_launcher_setenv(l, "FAKE_CUDA", m->cuda, TRUE);
  g_subprocess_launcher_setenv(l, "FAKE_NVML", "", TRUE);
  g_subprocess_launcher_setenv(l, "TARMAC_NVML", m->nvml ? nvml : "/nonexistent/libnvidia-ml.so.1", TRUE);
  g_subprocess_launcher_setenv(l, "LD_LIBRARY_PATH", m->cudnn ? cudnn : modules, TRUE);
  g_subprocess_launcher_unsetenv(l, "CUDA_VISIBLE_DEVICES");
  g_ptr_array_add(all, (gpointer)program);
  for (; *words; words++) g_ptr_array_add(all, (gpointer)*words);
  g_ptr_array_add(all, NULL);
  g_autoptr(GSubprocess) p = g_subprocess_launcher_spawnv(l, (const char *const *)all->pdata, &error);
  g_assert_no_error(error);
  char *out = NULL;
  g_assert_true(g_subprocess_communicate_utf8(p, NULL, NULL, &out, NULL, &error));
  g_assert_true(g_subprocess_get_if_exited(p));
  g_assert_cmpint(g_subprocess_get_exit_status(p), ==, 0);
  return out;
}

static void says(const char *text, const char *part) {
  g_test_message("%s", text);
  if (!strstr(text, part)) g_test_fail_printf("“%s” does not say “%s”", text, part);
}

static JsonObject *last_line(const char *out, JsonParser *parser) {
  g_autofree char *text = g_strchomp(g_strdup(out));
  const char *line = strrchr(text, '\n');
  g_assert_true(json_parser_load_from_data(parser, line ? line + 1 : text, -1, NULL));
  return json_node_get_object(json_parser_get_root(parser));
}

static void test_machine(gconstpointer data) {
  const Machine *m = data;
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autofree char *out = run(m, (const char *const[]){"doctor", "--json", NULL});
  JsonObject *o = last_line(out, parser),
             *cuda = json_object_get_object_member(json_object_get_object_member(o, "backends"), "cuda");
  g_assert_false(json_object_get_boolean_member(cuda, "usable"));
  says(json_object_get_string_member(cuda, "reason"), m->says);
  if (m->readings)
    says(json_object_get_string_member(o, "gpu_readings"), m->readings);
  else
    g_assert_true(json_object_get_null_member(o, "gpu_readings"));
  /* Every GPU with the identity that --device takes. */
  JsonArray *gpus = json_object_get_array_member(o, "gpus");
  g_assert_cmpuint(json_array_get_length(gpus), ==, m->nvml ? 2 : 0);
  if (m->nvml)
    g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(gpus, 1), "uuid"), ==,
                    "GPU-22222222-bbbb");
}

static void test_training(gconstpointer data) {
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp("tarmac-doctor-XXXXXX", &error),
                  *out =
                      run(data, (const char *const[]){"train", "demo", "--demo-size", "32x32", "--demo-train",
                                                      "4", "--demo-val", "1", "--epochs", "1", "--base", "2",
                                                      "--depth", "2", "--out", folder, "--json", NULL});
  g_autoptr(JsonParser) parser = json_parser_new();
  const char *device = json_object_get_string_member(last_line(out, parser), "device");
  g_assert_false(g_str_has_prefix(device, "cuda"));
  g_autoptr(GSubprocess) clean = g_subprocess_new(G_SUBPROCESS_FLAGS_NONE, &error, "rm", "-r", folder, NULL);
  g_assert_true(g_subprocess_wait_check(clean, NULL, &error));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 5) {
    g_printerr("usage: test_doctor TARMAC MODULES NVML CUDNN_FOLDER\n");
    return 2;
  }
  program = argv[1];
  modules = argv[2];
  nvml = argv[3];
  cudnn = argv[4];
  for (gsize i = 0; i < G_N_ELEMENTS(machines); i++) {
    g_autofree char *says_so = g_strdup_printf("/doctor/%s", machines[i].name),
                    *trains = g_strdup_printf("/doctor/%s/trains", machines[i].name);
    g_test_add_data_func(says_so, &machines[i], test_machine);
    g_test_add_data_func(trains, &machines[i], test_training);
  }
  return g_test_run();
}
