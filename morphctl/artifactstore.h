/*
 * The user's artifacts by build-id: the first folder of $MORPH_ARTIFACTS, where the ld hook puts
 * them.
 */
#ifndef MORPH_MORPHCTL_ARTIFACTSTORE_H
#define MORPH_MORPHCTL_ARTIFACTSTORE_H

/* Those that lie beside no program any more (one name is left) belong to installed programs and
 * to many that are gone. Beyond 4 GiB of them the oldest are removed. */
void artifactstore_prune(void);

#endif
