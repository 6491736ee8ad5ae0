/*
 * morph-fetch: gets the artifact of one build from servers. The privileged parent starts it as a
 * user of its own; each exchange with a server is a process again, with the files and the port
 * alone that it takes (common/fetch/download.h). It does not look into the artifact.
 *
 *	morph-fetch BUILD-ID KEY SERVER…	KEY "" = none: servers are known by TLS
 *
 * 1 is the answer, an empty file (a memfd): the artifact, whole, where the exit status is
 * FETCH_HAVE, else one line of why there is none.
 */
#ifndef MORPH_MANAGERD_FETCH_H
#define MORPH_MANAGERD_FETCH_H

enum { FETCH_ANSWER = 1 }; /* descriptor */
enum { FETCH_HAVE, FETCH_FAILED, FETCH_USAGE };
/* For all servers; address space. */
enum { FETCH_S = 900 };
#define FETCH_MEMORY ((uint64_t)3 << 30)

#endif
