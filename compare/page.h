/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - what each page of HTML is made with: its style, and the script that sorts its table. */
#ifndef COMPARE_PAGE_H
#define COMPARE_PAGE_H

extern const char page_head[], page_script[];

#endif
