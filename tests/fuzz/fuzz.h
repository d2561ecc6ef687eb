/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz - what a fuzz target needs: properties that must hold, and its input as text. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer, or replay.c, calls for each input. Returns 0, or aborts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that does not hold ends the program: libFuzzer keeps the input then. */
#define MUST(good, ...)                                                            \
	do {                                                                       \
		if (good)                                                          \
			break;                                                     \
		fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #good); \
		fprintf(stderr, __VA_ARGS__);                                      \
		fputc('\n', stderr);                                               \
		abort();                                                           \
	} while (0)

/* Exactly as long as it must be, so that a sanitizer sees what reads on; to be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
