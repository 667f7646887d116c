/* project_card.h: the sidebar's button that shows the open project (first picture, title, counts) and offers
 * others. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "app/project.h"

#define TM_TYPE_PROJECT_CARD (tm_project_card_get_type())
G_DECLARE_FINAL_TYPE(TmProjectCard, tm_project_card, TM, PROJECT_CARD, GtkBox)

/** Follows @project from now on; once. @menu is what a click offers. */
void tm_project_card_set_project(TmProjectCard *c, TmProject *project, GMenuModel *menu);
