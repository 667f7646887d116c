/* gl.h: controls of the stand-in for CUDA's OpenGL interop (gl.c). */
#pragma once

/* The device that draws in the current context; 0 at first. */
void tm_host_gl_device(int device);
/* Calls since the last time it was asked that the real one would not survive or forgive: without a context or
 * in another than the buffer's, a buffer that OpenGL has deleted before it was given back, one mapped twice,
 * given back while mapped, a pointer or an end without a beginning. */
int tm_host_gl_misuse(void);
