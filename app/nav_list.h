/* nav_list.h: the sidebar's list of pages, with a badge a row. Emits "chosen" (the page's name) when the
 * person picks a row. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_NAV_LIST (tm_nav_list_get_type())
G_DECLARE_FINAL_TYPE(TmNavList, tm_nav_list, TM, NAV_LIST, GtkBox)

/** Rows stand in the order in which they are added; the nth is reached by Alt+n. title is translated; name
 * and icon are copied. */
void tm_nav_list_add(TmNavList *l, const char *name, const char *icon, const char *title);
/** Marks the row, without "chosen". */
void tm_nav_list_select(TmNavList *l, const char *name);
/** text NULL: none. accessible: the row's whole name. */
void tm_nav_list_set_badge(TmNavList *l, const char *name, const char *text, const char *accessible,
                           gboolean warning);
