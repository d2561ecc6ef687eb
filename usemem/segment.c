// SPDX-License-Identifier: GPL-2.0-or-later
/* segment - System V segments that are gone when the call returns, and what is resident. */
#include "usemem/segment.h"

#include "common/parse.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

/* A segment that is marked for removal once it is attached: it goes with this process at the
 * latest (shmctl(2), IPC_RMID). Its ID still serves for locking. */
static int segment_open(uint64_t bytes, int flags, int *id, void **memory)
{
	char size[FORMAT_LEN];
	int error;

	*id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600 | flags);
	if (*id < 0)
		return failed("System V segment of %s", format_size(size, bytes));
	*memory = shmat(*id, NULL, 0);
	error = errno;
	shmctl(*id, IPC_RMID, NULL);
	errno = error;
	if (*memory == (void *)-1)
		return failed("attach a System V segment of %s",
			      format_size(size, bytes));
	return 0;
}

static void write_pages(void *memory, uint64_t bytes, uint64_t page_bytes)
{
	volatile char *at = memory;

	for (uint64_t i = 0; i < bytes; i += page_bytes)
		at[i] = 1;
}

int segment_lock(uint64_t bytes)
{
	void *memory = MAP_FAILED;
	int id, ret = segment_open(bytes, 0, &id, &memory);

	if (ret)
		return ret;
	write_pages(memory, bytes, base_page_bytes());
	if (shmctl(id, SHM_LOCK, NULL))
		ret = failed("lock the System V segment");
	else if (shmctl(id, SHM_UNLOCK, NULL))
		ret = failed("unlock the System V segment");
	shmdt(memory);
	return ret;
}

int segment_resident(uint64_t default_bytes, uint64_t huge_bytes, uint64_t bytes,
		     struct residency *r)
{
	uint64_t page = huge_bytes ?: default_bytes, whole;
	void *memory = MAP_FAILED;
	int id, ret = huge_pages_check(page);

	if (ret)
		return ret;
	whole = (bytes - 1) / page * page + page;
	ret = segment_open(whole, SHM_HUGETLB | huge_page_flags(page), &id, &memory);
	if (ret)
		return ret;
	if (mprotect(memory, whole, PROT_READ))
		ret = failed("mprotect the System V segment");
	if (!ret)
		ret = memory_residency(memory, whole, page / base_page_bytes(), r);
	if (!ret && mprotect(memory, whole, PROT_READ | PROT_WRITE))
		ret = failed("mprotect the System V segment");
	if (!ret)
		write_pages(memory, whole, page);
	shmdt(memory);
	return ret;
}

int pages_resident(const struct backing *b, void *memory, uint64_t bytes,
		   struct residency *r)
{
	struct pages pages = region_pages(b, memory, bytes);

	return memory_residency(pages.start, pages.bytes, 1, r);
}
