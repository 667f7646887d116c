/* A library that is no module of ours. */
#include <gmodule.h>

extern const int something_else;
G_MODULE_EXPORT const int something_else = 1;
