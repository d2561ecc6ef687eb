// SPDX-License-Identifier: GPL-2.0-or-later
/* replay - try a fuzz target on the files of folders, without a fuzzer. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>

static void replay_file(const char *folder, const char *name)
{
	static uint8_t data[64 * 1024];
	char path[4096];
	uint8_t *exact;
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	MUST(file, "%s", path);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout);
	exact = (uint8_t *)fuzz_text(data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	unsigned tried = 0;

	for (int i = 1; i < argc; i++) {
		DIR *names = opendir(argv[i]);
		struct dirent *entry;

		MUST(names, "%s", argv[i]);
		while ((entry = readdir(names))) {
			if (entry->d_name[0] == '.')
				continue;
			replay_file(argv[i], entry->d_name);
			tried++;
		}
		closedir(names);
	}
	printf("%u inputs\n", tried);
	return !tried;
}
