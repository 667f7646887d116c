/* page_data.h: the Data page: class shares, findings of the scan, thumbnails with masks, and one picture in
 * large. Main thread. */
#pragma once

#include <adwaita.h>

#include "app/project.h"

#define TM_TYPE_PAGE_DATA (tm_page_data_get_type())
G_DECLARE_FINAL_TYPE(TmPageData, tm_page_data, TM, PAGE_DATA, GtkBox)

TmPageData *tm_page_data_new(TmProject *project);
void tm_page_data_set_folded(TmPageData *p, gboolean folded);
/** Opens or closes the picture's panel. */
void tm_page_data_toggle_panel(TmPageData *p);
