/* page_predict.h: the Predict page: a folder of pictures, any network, masks. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/page.h"
#include "app/project.h"

#define TM_TYPE_PAGE_PREDICT (tm_page_predict_get_type())
G_DECLARE_FINAL_TYPE(TmPagePredict, tm_page_predict, TM, PAGE_PREDICT, GtkBox)

TmPage *tm_page_predict_new(TmProject *project);
