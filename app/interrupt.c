#include "app/interrupt.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught;

static void on_signal(int signum) {
  if (caught) _exit(128 + signum);
  caught = signum;
}

void tm_interrupt_catch(void) {
  struct sigaction action = {
      .sa_handler = on_signal}; /* no SA_RESTART: a sleep ends early, so the answer comes at once */
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int tm_interrupt_caught(void) {
  return caught;
}
