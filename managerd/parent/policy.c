#include "managerd/parent/policy.h"
#include "common/log.h"
#include "common/places.h"
#include "managerd/parent/parent.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *policy_path(const struct policy *p)
{
	return p->given || !access(p->path, F_OK) ? p->path : NULL;
}

const struct passwd *policy_user(const char *name, const char *home, struct err *e)
{
	const struct passwd *pw = getpwnam(name);

	if (!pw)
		err_set(e,
		    "there is no user %s; make it with systemd-sysusers, or: useradd --system "
		    "--home-dir %s %s",
		    name, home, name);
	else if (pw->pw_uid == 0 || pw->pw_gid == 0)
		err_set(e, "the user %s must not be root", name);
	else
		return pw;
	return NULL;
}

static int find_fetch_user(struct parent *p, struct err *e)
{
	const struct passwd *pw = policy_user("morph-fetch", "/nonexistent", e);

	if (!pw)
		return -1;
	if (pw->pw_uid == p->service[0] || pw->pw_uid == p->for_root.uid)
		return err_set(e, "the user morph-fetch must be nobody else's");
	p->for_fetch = (struct folder_user){true, pw->pw_uid, pw->pw_gid};
	return 0;
}

int policy_needs(struct parent *p, const struct conf *c, struct err *e)
{
	if (!c->fetch.servers.n || p->fetcher)
		return 0;
	if (!p->user && find_fetch_user(p, e))
		return -1;
	p->fetcher = places_own("../libexec/morph/morph-fetch");
	return p->fetcher ? 0 : err_sys(e, "../libexec/morph/morph-fetch");
}

int policy_publish(struct policy *p, const void *text, size_t n, struct err *e)
{
	if (p->text < 0)
		p->text = memfd_create("policy", MFD_CLOEXEC);
	if (p->text < 0 || ftruncate(p->text, 0) || pwrite(p->text, text, n, 0) != (ssize_t)n)
		return err_sys(e, "the policy");
	return 0;
}

int policy_reload(struct parent *p, struct err *e)
{
	struct buf text = {0};
	struct conf c;
	int r = conf_read(policy_path(&p->policy), &text, &c, e);

	if (!r && (policy_needs(p, &c, e) || policy_publish(&p->policy, text.p, text.n, e))) {
		conf_free(&c);
		r = -1;
	}
	if (!r) {
		conf_free(p->conf);
		*p->conf = c;
		p->policy.reads++;
	}
	buf_free(&text);
	return r;
}
