/* label.h: what a mask's pixels mean: a class index 0 .. C-1, or void. */
#pragma once

/* Void: outside the loss and every score. Whatever is not below the number of classes counts as void too. */
enum { TM_VOID = 255 };
