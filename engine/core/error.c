#include "engine/core/error.h"

G_DEFINE_QUARK(tarmac-error-quark, tm_error)
