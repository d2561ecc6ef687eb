/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records - what a crew leaves behind, tallies and records, made without a crew. */
#ifndef TESTS_UNIT_RECORDS_H
#define TESTS_UNIT_RECORDS_H

#include "common/board.h"
#include "common/crew.h"

#include <stdlib.h>
#include <string.h>

/* All zeros; RECORD_BYTES for each worker. */
static inline struct crew_result records_make(unsigned workers, size_t record_bytes)
{
	size_t head = sizeof(struct board) + workers * sizeof(struct tally),
	       bytes = head + workers * record_bytes,
	       rounded = (bytes + CACHE_PAIR - 1) / CACHE_PAIR * CACHE_PAIR;
	struct board *board = aligned_alloc(CACHE_PAIR, rounded);

	if (!board)
		abort();
	memset(board, 0, rounded);
	board->records_at = head;
	board->record_bytes = record_bytes;
	return (struct crew_result){
		.workers = workers,
		.tallies = board->tallies,
		.board = board,
	};
}

static inline void records_free(struct crew_result *result)
{
	free(result->board);
	*result = (struct crew_result){ 0 };
}

#endif
