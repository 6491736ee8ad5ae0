#include "monitor-client/uplink/session.h"
#include "common/log.h"

#include <sys/random.h>
#include <unistd.h>

struct wire_hello session_hello(enum wire_source source, uint64_t period_ns)
{
	struct wire_hello h = {.period_ns = period_ns, .source = source, .pid = (uint32_t)getpid()};

	do
		if (getrandom(&h.session, sizeof h.session, 0) != sizeof h.session)
			die(70, "no random numbers from the kernel");
	while (!h.session);
	return h;
}
