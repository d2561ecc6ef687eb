// SPDX-License-Identifier: GPL-2.0-or-later
/* foreign - marks that others leave on a block device: a row each. */
#include "common/foreign.h"

#include <stdbool.h>
#include <string.h>

struct foreign {
	const char *what;
	const char *mark;
	size_t mark_len;
	size_t places;
	/* From the start of the device, or if ALIGN is not 0 back from its size, rounded down to
	 * that. */
	uint64_t at[8], align;
};

#define MARK(text) .mark = (text), .mark_len = sizeof(text) - 1
#define AT(...)                \
	.at = { __VA_ARGS__ }, \
	.places = sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static const char luks[] = "a LUKS volume", raid[] = "a member of a RAID",
		  swap[] = "a swap area", table[] = "a partition table",
		  zfs[] = "a member of a ZFS pool";

static const struct foreign foreign[] = {
	{ luks, MARK("LUKS\xba\xbe"), AT(0) },
	/* The second header, behind a first one of any size. */
	{ luks, MARK("SKUL\xba\xbe"),
	  AT(16 * KiB, 32 * KiB, 64 * KiB, 128 * KiB, 256 * KiB, 512 * KiB) },
	/* Versions 1.1 and 1.2, 1.0, and 0.90 in either byte order. */
	{ raid, MARK("\xfc\x4e\x2b\xa9"), AT(0, 4 * KiB) },
	{ raid, MARK("\xfc\x4e\x2b\xa9"), AT(8 * KiB), .align = 4 * KiB },
	{ raid, MARK("\xfc\x4e\x2b\xa9"), AT(64 * KiB), .align = 64 * KiB },
	{ raid, MARK("\xa9\x2b\x4e\xfc"), AT(64 * KiB), .align = 64 * KiB },
	{ "an LVM volume", MARK("LABELONE"), AT(0, 512, 1024, 1536) },
	/* At the end of the first page, of any size. */
	{ swap, MARK("SWAPSPACE2"), AT(4086, 8182, 16374, 32758, 65526) },
	{ swap, MARK("SWAP-SPACE"), AT(4086, 8182, 16374, 32758, 65526) },
	{ "a bcachefs filesystem",
	  MARK("\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
	  AT(4096 + 24) },
	{ "a bcache or bcachefs device",
	  MARK("\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
	  AT(4096 + 24) },
	{ "an exFAT filesystem", MARK("EXFAT   "), AT(3) },
	{ "an NTFS filesystem", MARK("NTFS    "), AT(3) },
	{ "a FAT filesystem", MARK("FAT32   "), AT(82) },
	{ "a FAT filesystem", MARK("FAT16   "), AT(54) },
	{ "a squashfs filesystem", MARK("hsqs"), AT(0) },
	{ "an ISO 9660 filesystem", MARK("CD001"), AT(32 * KiB + 1) },
	/* The first name in a label, of which two are at each end. */
	{ zfs, MARK("\0\0\0\7version"), AT(16 * KiB + 20, 272 * KiB + 20) },
	{ zfs, MARK("\0\0\0\7version"), AT(240 * KiB - 20, 496 * KiB - 20),
	  .align = 256 * KiB },
	/* The second one of a GPT, in the last block. */
	{ table, MARK("EFI PART"), AT(512, 4096), .align = 512 },
};

/* NULL: outside of what was read. */
static const unsigned char *find_place(const struct ends *e, const struct foreign *f,
				       uint64_t at)
{
	uint64_t back;

	if (!f->align)
		return at + f->mark_len <= END_BYTES ? e->first + at : NULL;
	back = e->size % f->align + at;
	return back <= END_BYTES && back >= f->mark_len ? e->last + END_BYTES - back
							: NULL;
}

static bool has_mark(const struct ends *e, const struct foreign *f)
{
	for (size_t i = 0; i < f->places; i++) {
		const unsigned char *place = find_place(e, f, f->at[i]);

		if (place && !memcmp(place, f->mark, f->mark_len))
			return true;
	}
	return false;
}

const char *foreign_find(const struct ends *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		if (has_mark(e, &foreign[i]))
			return foreign[i].what;
	return NULL;
}
