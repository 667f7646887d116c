/* hero.h: a demo road in large, half photograph and half mask, cut at a slant, with the names of its classes. Drawn on a thread of its own. Main
 * thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_HERO (tm_hero_get_type())
G_DECLARE_FINAL_TYPE(TmHero, tm_hero, TM, HERO, GtkWidget)

GtkWidget *tm_hero_new(void);
