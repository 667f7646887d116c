/* page_evaluate.h: the Evaluate page: how a network scored, by class, by mistake, by picture, beside another one. Main
 * thread. */
#pragma once

#include <adwaita.h>

#include "app/page.h"
#include "app/project.h"

#define TM_TYPE_PAGE_EVALUATE (tm_page_evaluate_get_type())
G_DECLARE_FINAL_TYPE(TmPageEvaluate, tm_page_evaluate, TM, PAGE_EVALUATE, GtkBox)

TmPage *tm_page_evaluate_new(TmProject *project);
