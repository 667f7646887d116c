/* file_ops-private.h: the system calls by which a run's files reach the disk, as a table, so that tests can
 * make each of them fail. The table is the C library's in every program; only tests swap it, on one thread,
 * before any other runs. */
#pragma once

#include <sys/types.h>

typedef struct {
  ssize_t (*write)(int fd, const void *data, size_t count);
  int (*fsync)(int fd);
  int (*rename)(const char *from, const char *to);
} TmFileOps;

extern TmFileOps tm_file_ops;
