/* split.h: ways to part a dataset into training, validation and test. Each gives one TmSplit an entry, free
 * it with g_free(). Nothing is changed; tm_amend_set_splits() keeps the result in a project. Any thread. */
#pragma once

#include "engine/data/dataset.h"

/** What the pictures of one drive have in common: what stands before the last number in the name: "0016E5" of "0016E5_08043", "Seq05VD" of
 * "Seq05VD_f00900", "aachen_000000" of "aachen_000000_000019_leftImg8bit". Free it. */
char *tm_sequence_name(const char *name);
/** How many different ones there are. */
guint tm_sequence_count(const TmDataset *d);

/** Whole drives, so that no picture has its neighbour of the same video in another split: the longest drive
 * first, each to the split that is farthest from its share. Where there are too few drives for that, a run of
 * neighbours by name is cut off for each split. @val, @test: shares of the pictures; splits with a share
 * above 0 get at least one picture while there are enough. */
TmSplit *tm_split_by_sequence(const TmDataset *d, double val, double test);
/** By chance, the same for one @seed. */
TmSplit *tm_split_by_chance(const TmDataset *d, double val, double test, guint64 seed);
