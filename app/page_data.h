/* page_data.h: the Data page: class shares, findings of the scan, thumbnails with masks, and one picture in
 * large. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/page.h"
#include "app/project.h"

#define TM_TYPE_PAGE_DATA (tm_page_data_get_type())
G_DECLARE_FINAL_TYPE(TmPageData, tm_page_data, TM, PAGE_DATA, GtkBox)

TmPage *tm_page_data_new(TmProject *project);
