/*
 * A folder of artifacts by build-id, FOLDER/xx/yyyy….morph, kept within bounds.
 */
#ifndef MORPH_ARTIFACT_PRUNE_H
#define MORPH_ARTIFACT_PRUNE_H

#include <stdint.h>

/* Those that lie beside no program (one name is left) belong to installed programs and to many that
 * are gone. Beyond max bytes of them the oldest are removed. */
void artifacts_prune(const char *folder, uint64_t max);

#endif
