/* interrupt.h: SIGINT and SIGTERM as a question that the commands ask between two pieces of work. */
#pragma once

#include <glib.h>

/** From here on the first signal is only noted; a second SIGINT or SIGTERM ends the process at once. Main
 * thread, once. */
void tm_interrupt_catch(void);
/** The signal's number, or 0. Any thread. */
int tm_interrupt_caught(void);
