/* studio.h: the window, as the command line sees it. Compiled in only with the studio option
 * (TM_HAVE_STUDIO). */
#pragma once

/** Runs the studio until its last window closes and returns the process's exit code. @argv after the
 * program's name may hold one dataset's folder, or "demo", to open; with nothing the studio opens on the demo
 * roads. GTK's own options are taken too. Main thread. */
int tm_studio_run(int argc, char **argv);
