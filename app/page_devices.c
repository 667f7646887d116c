#include "app/page_devices.h"

#include <string.h>

#include <glib/gi18n.h>

#include "engine/doctor/doctor.h"
#include "ui/adaptive.h"
#include "ui/check_row.h"
#include "ui/device_row.h"
#include "ui/device_view.h"
#include "ui/notice.h"
#include "ui/picture_path.h"
#include "ui/readings_table.h"

enum { SIDE = 344, WHOLE = 10000 }; /* pixels of the right column: beside the graphs, below them */

struct _TmPageDevices {
  GtkBox parent;
  /* Of the template: */
  GtkWidget *header, *title, *back, *stack, *bin, *leaflet, *list, *body_bin, *notices, *head, *name, *about,
      *used, *copy, *table, *body, *graphs, *side, *side_clamp, *properties, *checks_box, *checks,
      *checks_count, *checking;
  /* Made here: */
  GtkWidget *missing; /* the status page in the place of the graphs where there is no GPU */
  TmNotice *silent;
  TmPicturePath *path;
  TmDeviceView *view;
  GSimpleActionGroup *actions;

  TmDevices *devices; /* NULL until looked at */
  TmDoctor *doctor;
  int shown;      /* device; -1: the GPU that is not there; -2: none yet */
  guint64 serial; /* of the samples shown */
  guint source;
  gboolean looking, folded;
};

static void page_init(TmPageInterface *iface);
G_DEFINE_FINAL_TYPE_WITH_CODE(TmPageDevices, tm_page_devices, GTK_TYPE_BOX,
                              G_IMPLEMENT_INTERFACE(TM_TYPE_PAGE, page_init))

static void clear_box(GtkWidget *box) {
  for (GtkWidget *c; (c = gtk_widget_get_first_child(box));) gtk_box_remove(GTK_BOX(box), c);
}

static void clear_list(GtkWidget *list) {
  for (GtkWidget *c; (c = gtk_widget_get_first_child(list));) gtk_list_box_remove(GTK_LIST_BOX(list), c);
}

static void enable(TmPageDevices *p, const char *action, gboolean on) {
  g_simple_action_set_enabled(G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(p->actions), action)),
                              on);
}

/* ---- one device ---- */

/* A short value stands at the end of the line, a sentence below the label. */
static void add_property(TmPageDevices *p, const char *label, const char *value) {
  enum { SHORT = 40 };
  GtkWidget *row = adw_action_row_new();
  adw_preferences_row_set_use_markup(ADW_PREFERENCES_ROW(row), FALSE);
  adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), label);
  if (g_utf8_strlen(value, -1) > SHORT) {
    adw_action_row_set_subtitle(ADW_ACTION_ROW(row), value);
  } else {
    GtkWidget *v = gtk_label_new(value);
    gtk_label_set_wrap(GTK_LABEL(v), TRUE);
    gtk_label_set_natural_wrap_mode(GTK_LABEL(v), GTK_NATURAL_WRAP_NONE);
    gtk_label_set_xalign(GTK_LABEL(v), 1);
    gtk_label_set_justify(GTK_LABEL(v), GTK_JUSTIFY_RIGHT);
    gtk_widget_set_valign(v, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(v, "tm-small");
    gtk_widget_add_css_class(v, "tm-dim");
    gtk_widget_add_css_class(v, "numeric");
    adw_action_row_add_suffix(ADW_ACTION_ROW(row), v);
  }
  g_autofree char *name = g_strdup_printf("%s, %s", label, value);
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(row),
                                GTK_ACCESSIBLE_RELATION_LABELLED_BY); /* its title alone */
  gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_list_box_append(GTK_LIST_BOX(p->properties), row);
}

/* The back end that runs on a device of this kind. */
static const TmBackendLook *engine_of(const TmPageDevices *p, TmDeviceKind kind) {
  const char *name = kind == TM_DEVICE_GPU ? "cuda" : kind == TM_DEVICE_PROCESSOR ? "cpu" : NULL;
  for (guint i = 0; name && p->doctor && i < p->doctor->looks->len; i++) {
    const TmBackendLook *b = p->doctor->looks->pdata[i];
    if (strcmp(b->name, name) == 0) return b;
  }
  return NULL;
}

static void show_properties(TmPageDevices *p) {
  clear_list(p->properties);
  const TmDevice *d = p->shown >= 0 ? tm_devices_get(p->devices, (guint)p->shown) : NULL;
  const TmBackendLook *engine = d ? engine_of(p, d->kind) : NULL;
  for (guint i = 0; d && i < d->properties->len; i++) {
    const TmProperty *q = &g_array_index(d->properties, TmProperty, i);
    add_property(p, q->label, q->value);
  }
  if (engine) add_property(p, _("Engine"), engine->usable ? engine->detail : engine->reason);
  if (engine && engine->usable && d->kind == TM_DEVICE_PROCESSOR)
    add_property(p, _("bf16"), engine->bf16 ? _("in hardware") : _("converted"));
  gtk_widget_set_visible(gtk_widget_get_parent(p->properties), d && d->properties->len);
}

/* Does a run that starts now use this device? */
static gboolean trains_on(const TmPageDevices *p, const TmDevice *d) {
  const TmBackendLook *best = p->doctor ? tm_backend_looks_best(p->doctor->looks) : NULL;
  if (!best) return FALSE;
  if (strcmp(best->name, "cuda") == 0)
    return d->kind == TM_DEVICE_GPU && g_strcmp0(d->uuid, p->doctor->machine.gpu_uuid) == 0;
  return d->kind == TM_DEVICE_PROCESSOR;
}

static const TmCheck *driver_check(const TmPageDevices *p) {
  for (guint i = 0; p->doctor && i < p->doctor->checks->len; i++) {
    const TmCheck *c = p->doctor->checks->pdata[i];
    if (strcmp(c->id, "driver") == 0) return c;
  }
  return NULL;
}

/* The status page where there is no GPU: the reason and the command, as far as they are known by now. */
static void show_missing(TmPageDevices *p) {
  const TmCheck *c = driver_check(p);
  const char *reason =
      c && c->verdict != TM_CHECK_NOTE && c->detail ? c->detail : tm_devices_gpu_reason(p->devices);
  const guint cores = g_get_num_processors();
  g_autofree char *uses = g_strdup_printf(
      ngettext("Training uses the processor’s %u core.", "Training uses the processor’s %u cores.", cores),
      cores);
  g_autofree char *text = g_strdup_printf("%s %s", uses, reason ? reason : "");
  GtkWidget *page = adw_status_page_new(), *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12),
            *again = gtk_button_new_with_label(_("Look Again"));
  adw_status_page_set_icon_name(ADW_STATUS_PAGE(page), "tm-devices-symbolic");
  adw_status_page_set_title(ADW_STATUS_PAGE(page), _("No NVIDIA GPU"));
  adw_status_page_set_description(ADW_STATUS_PAGE(page), text);
  gtk_widget_set_halign(buttons, GTK_ALIGN_CENTER);
  if (c && c->command) {
    GtkWidget *copy = gtk_button_new_with_label(_("Copy Command"));
    gtk_widget_set_tooltip_text(copy, c->command);
    gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(copy), "devices.copy-command");
    gtk_widget_add_css_class(copy, "pill");
    gtk_widget_add_css_class(copy, "suggested-action");
    gtk_box_append(GTK_BOX(buttons), copy);
  }
  gtk_actionable_set_action_name(GTK_ACTIONABLE(again), "devices.look-again");
  gtk_widget_add_css_class(again, "pill");
  gtk_box_append(GTK_BOX(buttons), again);
  adw_status_page_set_child(ADW_STATUS_PAGE(page), buttons);
  gtk_box_append(GTK_BOX(p->graphs), page);
}

static void lay_out(TmPageDevices *p) {
  const gboolean narrow = tm_adaptive_get_narrow(TM_ADAPTIVE(p->body_bin));
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->body),
                                 narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  adw_clamp_set_tightening_threshold(ADW_CLAMP(p->side_clamp), narrow ? WHOLE : SIDE);
  adw_clamp_set_maximum_size(ADW_CLAMP(p->side_clamp), narrow ? WHOLE : SIDE);
  gtk_widget_set_size_request(p->side_clamp, narrow ? -1 : SIDE, -1);
  const gboolean one_column = adw_leaflet_get_folded(ADW_LEAFLET(p->leaflet));
  gtk_orientable_set_orientation(GTK_ORIENTABLE(p->head),
                                 narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  if (p->view) tm_device_view_set_narrow(p->view, one_column);
  const gboolean deeper =
      one_column && g_strcmp0(adw_leaflet_get_visible_child_name(ADW_LEAFLET(p->leaflet)), "device") == 0;
  gtk_widget_set_visible(p->back, p->folded || deeper);
}

/* "GPU 0 · slowed down by heat". */
static void show_about(TmPageDevices *p) {
  const TmDevice *d = tm_devices_get(p->devices, (guint)p->shown);
  g_autofree char *note = tm_devices_note(p->devices, (guint)p->shown);
  const gboolean named = g_strcmp0(d->title, d->name) != 0;
  g_autofree char *about =
      g_strdup_printf("%s%s%s", named ? d->title : _("of the whole machine, and Tarmac’s part"),
                      note ? " · " : "", note ? note : "");
  gtk_label_set_label(GTK_LABEL(p->about), about);
}

static void show_device(TmPageDevices *p, int device) {
  p->shown = device;
  clear_box(p->graphs);
  p->view = NULL;
  const TmDevice *d = device >= 0 ? tm_devices_get(p->devices, (guint)device) : NULL;
  gtk_widget_set_visible(p->head, d != NULL);
  if (d) {
    gtk_label_set_label(GTK_LABEL(p->name), d->name);
    show_about(p);
    gtk_widget_set_visible(p->used, trains_on(p, d));
    p->view = TM_DEVICE_VIEW(tm_device_view_new(p->devices, (guint)device));
    gtk_box_append(GTK_BOX(p->graphs), GTK_WIDGET(p->view));
  } else {
    show_missing(p);
  }
  enable(p, "copy", d != NULL);
  enable(p, "table", d != NULL);
  show_properties(p);
  lay_out(p);
}

static void row_chosen(GtkListBox *list, GtkListBoxRow *row, TmPageDevices *p) {
  (void)list;
  if (!row || !p->devices) return;
  const int device = tm_device_row_device(TM_DEVICE_ROW(row));
  if (device != p->shown) show_device(p, device);
}

static void row_activated(TmPageDevices *p) {
  adw_leaflet_set_visible_child_name(ADW_LEAFLET(p->leaflet), "device");
}

/* ---- looking ---- */

static void show_checks(TmPageDevices *p) {
  clear_list(p->checks);
  const GPtrArray *all = p->doctor->checks;
  for (guint i = 0; i < all->len; i++)
    gtk_list_box_append(GTK_LIST_BOX(p->checks), tm_check_row_new(all->pdata[i]));
  g_autofree char *count = g_strdup_printf(_("%u of %u good"), tm_checks_good(all), all->len);
  gtk_label_set_label(GTK_LABEL(p->checks_count), count);
}

static guint worth_a_badge(const GPtrArray *checks) {
  guint n = 0;
  for (guint i = 0; i < checks->len; i++) n += ((TmCheck *)checks->pdata[i])->verdict >= TM_CHECK_WARNING;
  return n;
}

static void tell_badge(TmPageDevices *p) {
  const guint n = worth_a_badge(p->doctor->checks);
  g_autofree char *text = n ? g_strdup_printf("%u", n) : NULL;
  g_autofree char *name = n ? g_strdup_printf(ngettext("Devices, %u warning", "Devices, %u warnings", n), n)
                            : g_strdup(_("Devices"));
  tm_page_badge(TM_PAGE(p), text, name, TRUE);
}

static void examine(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)data;
  (void)cancel;
  g_task_return_pointer(task, tm_doctor_new(), (GDestroyNotify)tm_doctor_free);
}

static void examined(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageDevices *p = TM_PAGE_DEVICES(source);
  TmDoctor *d = g_task_propagate_pointer(G_TASK(result), NULL);
  if (!p->actions) { /* closed meanwhile */
    tm_doctor_free(d);
    return;
  }
  g_clear_pointer(&p->doctor, tm_doctor_free);
  p->doctor = d;
  gtk_spinner_set_spinning(GTK_SPINNER(p->checking), FALSE);
  show_checks(p);
  tell_badge(p);
  g_simple_action_set_enabled(G_SIMPLE_ACTION(g_action_map_lookup_action(G_ACTION_MAP(p->actions), "check")),
                              TRUE);
  if (p->devices && p->shown >= 0) {
    gtk_widget_set_visible(p->used, trains_on(p, tm_devices_get(p->devices, (guint)p->shown)));
    show_properties(p);
  } else if (p->devices && p->shown == -1) {
    show_device(p, -1);
  }
}

static void begin_checks(TmPageDevices *p) {
  if (!g_action_group_get_action_enabled(G_ACTION_GROUP(p->actions), "check")) return; /* at it already */
  enable(p, "check", FALSE);
  gtk_spinner_set_spinning(GTK_SPINNER(p->checking), TRUE);
  gtk_label_set_label(GTK_LABEL(p->checks_count), _("looking"));
  g_autoptr(GTask) task = g_task_new(p, NULL, examined, NULL);
  g_task_run_in_thread(task, examine);
}

static void fill_list(TmPageDevices *p) {
  clear_list(p->list);
  const gboolean gpu = !tm_devices_gpu_reason(p->devices);
  if (!gpu) gtk_list_box_append(GTK_LIST_BOX(p->list), tm_device_row_new(NULL, 0));
  for (guint i = 0; i < tm_devices_n(p->devices); i++)
    gtk_list_box_append(GTK_LIST_BOX(p->list), tm_device_row_new(p->devices, i));
  /* Without a GPU the processor is what trains, and the place of the GPU says why. */
  gtk_list_box_select_row(GTK_LIST_BOX(p->list),
                          gtk_list_box_get_row_at_index(GTK_LIST_BOX(p->list), gpu ? 0 : 1));
}

static void look(GTask *task, gpointer source, gpointer data, GCancellable *cancel) {
  (void)source;
  (void)data;
  (void)cancel;
  g_task_return_pointer(task, tm_devices_new(), (GDestroyNotify)tm_devices_free);
}

static void looked(GObject *source, GAsyncResult *result, gpointer user) {
  (void)user;
  TmPageDevices *p = TM_PAGE_DEVICES(source);
  TmDevices *d = g_task_propagate_pointer(G_TASK(result), NULL);
  p->looking = FALSE;
  if (!p->actions) {
    tm_devices_free(d);
    return;
  }
  clear_box(p->graphs);
  p->view = NULL;
  p->shown = -2;
  clear_list(p->list);
  g_clear_pointer(&p->devices, tm_devices_free);
  p->devices = d;
  fill_list(p);
  gtk_stack_set_visible_child_name(GTK_STACK(p->stack), "devices");
  tm_devices_set_sampling(d, gtk_widget_get_mapped(GTK_WIDGET(p)));
}

static void begin_look(TmPageDevices *p) {
  if (p->looking) return;
  p->looking = TRUE;
  g_autoptr(GTask) task = g_task_new(p, NULL, looked, NULL);
  g_task_run_in_thread(task, look);
  begin_checks(p);
}

/* ---- readings ---- */

static gboolean tick(gpointer user) {
  TmPageDevices *p = user;
  const guint64 serial = p->devices ? tm_devices_serial(p->devices) : 0;
  if (serial == p->serial) return G_SOURCE_CONTINUE;
  p->serial = serial;
  for (GtkWidget *r = gtk_widget_get_first_child(p->list); r; r = gtk_widget_get_next_sibling(r))
    tm_device_row_update(TM_DEVICE_ROW(r));
  if (p->view) {
    tm_device_view_update(p->view);
    show_about(p);
  }
  tm_picture_path_update(p->path);
  const gboolean answers = p->shown < 0 || tm_devices_answers(p->devices, (guint)p->shown);
  tm_notice_show(p->silent, TM_NOTICE_WARNING, NULL, answers ? NULL : _("The driver does not answer."),
                 _("The readings stand still; training may go on. Look again in a while."));
  gtk_widget_set_visible(p->notices, !answers);
  return G_SOURCE_CONTINUE;
}

/* Ctrl+R is ours while we are shown. */
static void take_ctrl_r(TmPageDevices *p, gboolean ours) {
  GtkRoot *root = gtk_widget_get_root(GTK_WIDGET(p));
  if (root) gtk_widget_action_set_enabled(GTK_WIDGET(root), "win.rescan", !ours);
  enable(p, "look-again", ours);
}

static void map(GtkWidget *w) {
  TmPageDevices *p = TM_PAGE_DEVICES(w);
  GTK_WIDGET_CLASS(tm_page_devices_parent_class)->map(w);
  if (!p->devices) begin_look(p);
  if (p->devices) tm_devices_set_sampling(p->devices, TRUE);
  take_ctrl_r(p, TRUE);
  if (!p->source) p->source = g_timeout_add(250, tick, p);
}

static void unmap(GtkWidget *w) {
  TmPageDevices *p = TM_PAGE_DEVICES(w);
  if (p->devices) tm_devices_set_sampling(p->devices, FALSE);
  take_ctrl_r(p, FALSE);
  g_clear_handle_id(&p->source, g_source_remove);
  GTK_WIDGET_CLASS(tm_page_devices_parent_class)->unmap(w);
}

/* ---- actions ---- */

static void copy_text(TmPageDevices *p, const char *text) {
  gdk_clipboard_set_text(gtk_widget_get_clipboard(GTK_WIDGET(p)), text);
}

static void do_copy(GSimpleAction *a, GVariant *v, gpointer user) {
  TmPageDevices *p = user;
  (void)a;
  g_autofree char *csv = tm_devices_csv(p->devices, (guint)p->shown, v ? (int)g_variant_get_uint32(v) : -1);
  copy_text(p, csv);
}

static void do_table(GSimpleAction *a, GVariant *v, gpointer user) {
  TmPageDevices *p = user;
  (void)a;
  tm_readings_table_present(GTK_WINDOW(gtk_widget_get_root(GTK_WIDGET(p))), p->devices, (guint)p->shown,
                            v ? (int)g_variant_get_uint32(v) : -1);
}

static void do_copy_command(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  const TmCheck *c = driver_check(user);
  if (c && c->command) copy_text(user, c->command);
}

static void do_look_again(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  begin_look(user);
}

static void do_check(GSimpleAction *a, GVariant *v, gpointer user) {
  (void)a;
  (void)v;
  begin_checks(user);
}

static void do_back(GSimpleAction *a, GVariant *v, gpointer user) {
  TmPageDevices *p = user;
  (void)a;
  (void)v;
  if (!adw_leaflet_get_folded(ADW_LEAFLET(p->leaflet)) ||
      !adw_leaflet_navigate(ADW_LEAFLET(p->leaflet), ADW_NAVIGATION_DIRECTION_BACK))
    gtk_widget_activate_action(GTK_WIDGET(p), "win.back", NULL);
}

static const GActionEntry entries[] = {
    {.name = "copy", .activate = do_copy},
    {.name = "copy-sensor", .activate = do_copy, .parameter_type = "u"},
    {.name = "table", .activate = do_table},
    {.name = "sensor-table", .activate = do_table, .parameter_type = "u"},
    {.name = "copy-command", .activate = do_copy_command},
    {.name = "look-again", .activate = do_look_again},
    {.name = "check", .activate = do_check},
    {.name = "back", .activate = do_back},
};

/* ---- the type ---- */

static void set_folded(TmPage *page, gboolean folded) {
  TM_PAGE_DEVICES(page)->folded = folded;
  lay_out(TM_PAGE_DEVICES(page));
}

static GActionGroup *actions(TmPage *page) {
  return G_ACTION_GROUP(TM_PAGE_DEVICES(page)->actions);
}

static void page_init(TmPageInterface *iface) {
  iface->set_folded = set_folded;
  iface->actions = actions;
}

static void dispose(GObject *o) {
  TmPageDevices *p = TM_PAGE_DEVICES(o);
  g_clear_handle_id(&p->source, g_source_remove);
  g_clear_object(&p->actions);
  gtk_widget_dispose_template(GTK_WIDGET(o), TM_TYPE_PAGE_DEVICES);
  g_clear_pointer(&p->devices, tm_devices_free);
  g_clear_pointer(&p->doctor, tm_doctor_free);
  G_OBJECT_CLASS(tm_page_devices_parent_class)->dispose(o);
}

static void tm_page_devices_class_init(TmPageDevicesClass *c) {
  GtkWidgetClass *wc = GTK_WIDGET_CLASS(c);
  G_OBJECT_CLASS(c)->dispose = dispose;
  wc->map = map;
  wc->unmap = unmap;
  g_type_ensure(TM_TYPE_ADAPTIVE);
  gtk_widget_class_set_template_from_resource(wc, "/io/github/tarmac/Tarmac/page_devices.ui");
#define BIND(name) gtk_widget_class_bind_template_child(wc, TmPageDevices, name)
  BIND(header), BIND(title), BIND(back), BIND(stack), BIND(bin), BIND(leaflet), BIND(list), BIND(body_bin),
      BIND(notices), BIND(head);
  BIND(name), BIND(about), BIND(used), BIND(copy), BIND(table), BIND(body), BIND(graphs), BIND(side),
      BIND(side_clamp), BIND(properties), BIND(checks_box);
  BIND(checks), BIND(checks_count), BIND(checking);
#undef BIND
}

/* Keys that mean something else in an entry or a label: only where none of those has the focus. */
static void add_keys(TmPageDevices *p) {
  static const struct {
    const char *keys, *action;
  } keys[] = {{"<Primary>c", "devices.copy"}, {"t", "devices.table"}};
  GtkEventController *c = gtk_shortcut_controller_new();
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++)
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(c),
                                         gtk_shortcut_new(gtk_shortcut_trigger_parse_string(keys[i].keys),
                                                          gtk_named_action_new(keys[i].action)));
  gtk_widget_add_controller(GTK_WIDGET(p), c);
}

static void tm_page_devices_init(TmPageDevices *p) {
  p->shown = -2;
  gtk_widget_init_template(GTK_WIDGET(p));
  p->actions = g_simple_action_group_new();
  g_action_map_add_action_entries(G_ACTION_MAP(p->actions), entries, G_N_ELEMENTS(entries), p);
  enable(p, "look-again", FALSE);
  enable(p, "copy", FALSE);
  enable(p, "table", FALSE);
  add_keys(p);
  p->silent = TM_NOTICE(tm_notice_new());
  gtk_box_append(GTK_BOX(p->notices), GTK_WIDGET(p->silent));
  tm_notice_set_buttons(p->silent, _("Look Again"), "devices.look-again", NULL, NULL);
  p->path = TM_PICTURE_PATH(tm_picture_path_new());
  gtk_box_insert_child_after(GTK_BOX(p->side), GTK_WIDGET(p->path), gtk_widget_get_parent(p->properties));
  g_signal_connect(p->list, "row-selected", G_CALLBACK(row_chosen), p);
  g_signal_connect_swapped(p->list, "row-activated", G_CALLBACK(row_activated), p);
  g_signal_connect_swapped(p->body_bin, "notify::narrow", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->leaflet, "notify::folded", G_CALLBACK(lay_out), p);
  g_signal_connect_swapped(p->leaflet, "notify::visible-child", G_CALLBACK(lay_out), p);
  lay_out(p);
}

TmPage *tm_page_devices_new(TmProject *project) {
  (void)project;
  return g_object_new(TM_TYPE_PAGE_DEVICES, NULL);
}
