/* page_devices.h: the Devices page: the GPUs, the processor, the memory and the disk, each with its readings of the last minute and what
 * is known of it; how pictures come to the screen; and the checks of `tarmac doctor`. Looks the machine over on a thread when it is first
 * shown, and takes readings only while it is. Main thread. */
#pragma once

#include "app/page.h"
#include "app/project.h"

#define TM_TYPE_PAGE_DEVICES (tm_page_devices_get_type())
G_DECLARE_FINAL_TYPE(TmPageDevices, tm_page_devices, TM, PAGE_DEVICES, GtkBox)

/** Of the machine, whatever the project. */
TmPage *tm_page_devices_new(TmProject *project);
