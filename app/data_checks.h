/* data_checks.h: what the scan found, one row for all pictures with the same trouble, what follows from it and at most one button that fixes it in the
 * project. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/project.h"

#define TM_TYPE_DATA_CHECKS (tm_data_checks_get_type())
G_DECLARE_FINAL_TYPE(TmDataChecks, tm_data_checks, TM, DATA_CHECKS, GtkBox)

/* Signal "show-pictures" (uint issue): the person wants to see its pictures; an index into tm_project_issues(). */
TmDataChecks *tm_data_checks_new(TmProject *project);
/** Issues that want a decision. */
guint tm_data_checks_open(TmProject *project);
