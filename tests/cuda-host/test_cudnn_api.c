/* What a person is told when cuDNN is not there, or is not the one. Run with a folder in LD_LIBRARY_PATH that
 * holds an empty libcudnn.so.9 ("old"), and without ("none"). */
#include <string.h>

#include "engine/backend/cuda/cudnn_api.h"
#include "engine/core/error.h"

static void test_reason(gconstpointer data) {
  const char *says = data;
  g_autoptr(GError) error = NULL;
  if (tm_cudnn(&error)) {
    g_test_skip("cuDNN is installed here");
    return;
  }
  g_assert_error(error, TM_ERROR, TM_ERROR_UNSUPPORTED);
  g_assert_nonnull(strstr(error->message, says));
  g_assert_nonnull(strstr(error->message, "Install cuDNN"));
  g_assert_null(tm_cudnn(NULL));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  const gboolean old = argc > 1 && strcmp(argv[1], "old") == 0;
  g_test_add_data_func(old ? "/cuda-host/cudnn/too-old" : "/cuda-host/cudnn/not-installed",
                       old ? "too old" : "not installed", test_reason);
  return g_test_run();
}
