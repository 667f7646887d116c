/* probe_card.h: the picture the network is asked about while it learns: input, prediction, truth and errors,
 * with the overlay's opacity and the classes that are shown. Main thread. */
#pragma once

#include <gtk/gtk.h>

#include "ui/scene.h"
#include "ui/scrubber.h"

#define TM_TYPE_PROBE_CARD (tm_probe_card_get_type())
G_DECLARE_FINAL_TYPE(TmProbeCard, tm_probe_card, TM, PROBE_CARD, GtkBox)

/* Signal "probe-chosen" (uint place): the person went to another of the pictures, 0..n-1. */
GtkWidget *tm_probe_card_new(void);
/** How many pictures there are to choose from, and which is shown. */
void tm_probe_card_set_choice(TmProbeCard *p, guint place, guint n);
void tm_probe_card_set_classes(TmProbeCard *p, const TmClassTable *t);
/** The slider through the epochs below the pictures. */
TmScrubber *tm_probe_card_scrubber(TmProbeCard *p);
/** Left of the scrubber's split the prediction of @other is shown; NULL: no swipe. */
void tm_probe_card_set_swipe(TmProbeCard *p, TmScene *other);
/** All pictures that probes can be chosen from, and which are; "probes-changed" (): others were. */
void tm_probe_card_set_choices(TmProbeCard *p, const char *const *names, const guint *chosen, guint n);
/** Free with g_array_unref(). */
GArray *tm_probe_card_get_choices(TmProbeCard *p);
/** Shows @scene (NULL: empty). @name: the picture's; @miou, @wrong: NAN when unknown. */
void tm_probe_card_set_scene(TmProbeCard *p, TmScene *scene, const char *name, double miou, double wrong);
/** What stands in for the prediction until there is one. */
void tm_probe_card_set_placeholder(TmProbeCard *p, const char *text);
/** Goes one on (+1) or back (-1), as the buttons do. */
void tm_probe_card_go(TmProbeCard *p, int by);
