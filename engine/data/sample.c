#include "engine/data/sample.h"

void tm_sample_clear(TmSample *s) {
  g_free(s->rgb);
  g_free(s->labels);
  *s = (TmSample){0};
}
