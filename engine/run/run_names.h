/* run_names.h: where the parts of a run's folder are. Private to engine/run and its tests. */
#pragma once

#define TM_RUN_INFO "run.json"
#define TM_RUN_EPOCHS "history.csv"
#define TM_RUN_STEPS "steps.csv"
#define TM_RUN_CHANGES "steering.jsonl"
#define TM_RUN_CHECKPOINTS "checkpoints"
#define TM_RUN_PROBES "probes"
#define TM_RUN_LAST "last.safetensors"
#define TM_RUN_PREVIOUS "previous.safetensors"
#define TM_RUN_BEST "best.safetensors"
