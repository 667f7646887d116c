#include "app/page.h"

enum { BADGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_INTERFACE(TmPage, tm_page, GTK_TYPE_WIDGET)

static void tm_page_default_init(TmPageInterface *i) {
  (void)i;
  signals[BADGE] = g_signal_new("badge", TM_TYPE_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                                G_TYPE_STRING, G_TYPE_STRING, G_TYPE_BOOLEAN);
}

void tm_page_set_folded(TmPage *p, gboolean folded) {
  TmPageInterface *i = TM_PAGE_GET_IFACE(p);
  if (i->set_folded) i->set_folded(p, folded);
}

void tm_page_toggle_panel(TmPage *p) {
  TmPageInterface *i = TM_PAGE_GET_IFACE(p);
  if (i->toggle_panel) i->toggle_panel(p);
}

GActionGroup *tm_page_actions(TmPage *p) {
  TmPageInterface *i = TM_PAGE_GET_IFACE(p);
  return i->actions ? i->actions(p) : NULL;
}

void tm_page_update_meters(TmPage *p, const TmMonitorSample *samples, guint n) {
  TmPageInterface *i = TM_PAGE_GET_IFACE(p);
  if (i->update_meters) i->update_meters(p, samples, n);
}

void tm_page_set_machine(TmPage *p, const TmMachine *m) {
  TmPageInterface *i = TM_PAGE_GET_IFACE(p);
  if (i->set_machine) i->set_machine(p, m);
}

void tm_page_badge(TmPage *p, const char *text, const char *name, gboolean warning) {
  g_signal_emit(p, signals[BADGE], 0, text, name, warning);
}
