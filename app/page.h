/* page.h: what the window asks of a page. A page is a widget that fills the window beside the sidebar; the
 * window knows pages only by this interface, their order and their icons only by the table in window.c. Every
 * method is optional. Main thread. */
#pragma once

#include <adwaita.h>

#include "engine/monitor/monitor.h"

#define TM_TYPE_PAGE (tm_page_get_type())
G_DECLARE_INTERFACE(TmPage, tm_page, TM, PAGE, GtkWidget)

struct _TmPageInterface {
  GTypeInterface parent;
  /* The sidebar is folded away (or back): shows Back. */
  void (*set_folded)(TmPage *p, gboolean folded);
  /* Opens or closes the side panel (F9). */
  void (*toggle_panel)(TmPage *p);
  /* The actions behind the page's controls; the window inserts them under the page's name. Owned by the page.
   */
  GActionGroup *(*actions)(TmPage *p);
  /* New samples of the machine, oldest first; n may be 0. */
  void (*update_meters)(TmPage *p, const TmMonitorSample *samples, guint n);
  /* The machine was looked over; m lives for the call. */
  void (*set_machine)(TmPage *p, const TmMachine *m);
};

void tm_page_set_folded(TmPage *p, gboolean folded);
void tm_page_toggle_panel(TmPage *p);
/** NULL for a page without. */
GActionGroup *tm_page_actions(TmPage *p);
void tm_page_update_meters(TmPage *p, const TmMonitorSample *samples, guint n);
void tm_page_set_machine(TmPage *p, const TmMachine *m);

/** Emits "badge" (text, name, warning), which the sidebar shows in the page's row: text beside the title,
 * NULL for none; name is the row's whole accessible name ("Train, epoch 12 of 40"). */
void tm_page_badge(TmPage *p, const char *text, const char *name, gboolean warning);
