/* train_watch.h: a trainer watched from a terminal: starts it, shows its progress, passes SIGINT and SIGTERM
 * on as "save and stop". */
#pragma once

#include "engine/train/trainer.h"

/** Returns when the trainer has finished, stopped or failed. Main thread, after tm_interrupt_catch(). */
void tm_train_watch(TmTrainer *t);
