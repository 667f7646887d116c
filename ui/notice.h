/* notice.h: something worth telling, in place: an icon, a bold sentence, the rest, and at most two buttons
 * with actions. Main thread. */
#pragma once

#include <gtk/gtk.h>

#define TM_TYPE_NOTICE (tm_notice_get_type())
G_DECLARE_FINAL_TYPE(TmNotice, tm_notice, TM, NOTICE, GtkWidget)

typedef enum { TM_NOTICE_INFO, TM_NOTICE_WARNING, TM_NOTICE_ERROR } TmNoticeKind;

GtkWidget *tm_notice_new(void);
/** Shows @strong in bold and @rest after it; @strong NULL hides the notice. @icon may be NULL for the kind's
 * own. */
void tm_notice_show(TmNotice *n, TmNoticeKind kind, const char *icon, const char *strong, const char *rest);
/** The suggested button and the other one; a NULL label leaves it out. Actions are detailed action names
 * ("win.go-on"). */
void tm_notice_set_buttons(TmNotice *n, const char *label, const char *action, const char *other_label,
                           const char *other_action);
