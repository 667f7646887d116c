/* short_list.h: a drop-down list whose button may be narrower than its words: it cuts them with an ellipsis, while the
 * list shows them whole. Main thread. */
#pragma once

#include <gtk/gtk.h>

/** Has @d, a list of strings, shrink to @chars characters; @d owns what is made. */
void tm_short_list_set_up(GtkDropDown *d, int chars);
