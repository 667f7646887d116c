/* scan_issues.h: the scan's findings put together for a person: one issue for all files with the same
 * trouble, what follows from it, and a fix that is made in the project. Any thread. */
#pragma once

#include "engine/data/alike.h"
#include "engine/data/amend.h"

typedef enum {
  TM_FIX_NONE,
  TM_FIX_MAP_VOID,    /* the value becomes void */
  TM_FIX_LEAVE_OUT,   /* the pictures are left out, said by the project instead of by the scan */
  TM_FIX_BY_SEQUENCE, /* whole drives go to one split */
  TM_FIX_WEIGHTS,     /* class weights by median frequency: a setting of training, not of the project */
} TmFix;

typedef enum { TM_ISSUE_ERROR, TM_ISSUE_WARNING, TM_ISSUE_HINT } TmIssueLevel;

typedef struct {
  TmIssueLevel level;
  TmFix fix;
  char *text;      /* "3 masks hold value 255" */
  char *follows;   /* "Outside the class table, read as void until fixed" */
  gint32 value;    /* for TM_FIX_MAP_VOID */
  char *value_text; /* the same in words: "value 255", "colour 64 128 65"; NULL where there is none */
  GArray *entries; /* guint: the pictures concerned, in their order; empty: about the whole */
  GPtrArray *told; /* char*: a sentence a picture, as many as entries; NULL where the text says it all */
} TmIssue;

/** What is wrong, the worst first. @alike may be NULL. TmIssue*, free with g_ptr_array_unref(). */
GPtrArray *tm_scan_issues(const TmScan *s, const TmDataset *d, const TmAlikeness *alike);
/** Makes the fix in @a, whose dataset @d is, of @base. FALSE where the fix is none of the project's. */
gboolean tm_issue_fix(const TmIssue *issue, const TmDataset *base, const TmDataset *d, TmAmend *a);
