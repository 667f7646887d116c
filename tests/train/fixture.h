/* fixture.h: tiny demo roads, tiny nets and folders for the trainer's tests. */
#pragma once

#include "engine/train/session.h"

/** @train and @val pictures of w x h. */
TmDataset *fixture_roads(int train, int val, int w, int h);
/** Base 2, depth 2, batch 4, 2 epochs, on ref in f32. */
void fixture_settings(TmSettings *s);
/** A new empty folder; fixture_remove() it. */
char *fixture_folder(void);
void fixture_remove(char *folder);
typedef char FixtureFolder;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FixtureFolder, fixture_remove)

/** Opens a session on a new or given folder; fails the test when that does not work. */
TmSession *fixture_session(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume);
/** A trainer on @folder, not started; fails the test when that does not work. */
TmTrainer *fixture_trainer(TmDataset *d, const TmSettings *s, const char *folder, gboolean resume);
/** Waits until @t is in @state, or has ended, or 20 s are over; FALSE unless it is in @state. */
gboolean fixture_until(TmTrainer *t, TmTrainerState state);
/** Whether the cpu backend can be used here. */
gboolean fixture_has_cpu(void);
/** All rows of a run's steps, from the trainer. Free with g_array_unref(). */
GArray *fixture_steps(TmTrainer *t);
GArray *fixture_epochs(TmTrainer *t);
/** Copies @n floats of device memory. Free it. */
float *fixture_read(TmSession *s, float *array, gsize n);
void fixture_write(TmSession *s, float *array, const float *values, gsize n);

/** Compares arrays of any element type by their bytes. */
#define fixture_same_bytes(a, b, bytes) g_assert_cmpint(memcmp((a), (b), (bytes)), ==, 0)
