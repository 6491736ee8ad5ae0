#include "managerd/modfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

int modfile_build_id(int fd, const char *path, struct build_id *id, struct err *e)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), r = 0;
	enum elf_kind kind;
	struct elf *f;

	if (copy < 0)
		return err_sys(e, "%s", path);
	/* It owns the copy from here on, also when it fails. */
	f = elf_file_open(path, copy, e);
	if (!f)
		return -1;
	kind = elf_file_kind(f);
	*id = elf_file_build_id(f);
	if (kind != ELF_EXEC && kind != ELF_PIE && kind != ELF_SHARED)
		r = err_set(e, "%s: is neither an executable nor a shared library", path);
	else if (!id->n)
		r = err_set(e, "%s: has no build-id", path);
	elf_file_close(f);
	return r;
}

static int refuse_mode(const struct trusted *t, struct err *e)
{
	uid_t self = geteuid();

	if (self != 0 && t->st.st_uid != self)
		return err_set(e, "%s: belongs to uid %u, not to us (uid %u)", t->path,
		    (unsigned)t->st.st_uid, (unsigned)self);
	if (t->st.st_mode & S_ISUID)
		return err_set(e, "%s: is setuid", t->path);
	if (t->st.st_mode & S_ISGID)
		return err_set(e, "%s: is setgid", t->path);
	if (t->st.st_nlink != 1)
		return err_set(e, "%s: has %ju names (hard links)", t->path,
		    (uintmax_t)t->st.st_nlink);
	return 0;
}

static int refuse_flags(const struct trusted *t, struct err *e)
{
	struct statx sx;

	if (statx(t->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx) < 0)
		return err_sys(e, "%s", t->path);
	if (sx.stx_attributes & STATX_ATTR_IMMUTABLE)
		return err_set(e, "%s: is immutable", t->path);
	if (sx.stx_attributes & STATX_ATTR_APPEND)
		return err_set(e, "%s: is append-only", t->path);
	if (sx.stx_attributes & STATX_ATTR_VERITY)
		return err_set(e, "%s: is protected by fs-verity", t->path);
	return 0;
}

static int refuse_xattrs(const struct trusted *t, struct err *e)
{
	static const struct {
		const char *name, *says;
	} bad[] = {
		{"security.capability", "has file capabilities"},
		{"security.ima", "is signed for IMA"},
		{"security.evm", "is signed for EVM"},
	};
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		if (fgetxattr(t->fd, bad[i].name, NULL, 0) >= 0)
			return err_set(e, "%s: %s", t->path, bad[i].says);
		else if (errno != ENODATA && errno != ENOTSUP)
			return err_sys(e, "%s: reading %s", t->path, bad[i].name);
	return 0;
}

enum swap_status modfile_open(const char *path, struct trusted *t, struct build_id *id,
    struct err *e)
{
	if (trust_open(path, (uid_t)-1, t, e) < 0)
		return SWAP_REFUSED;
	if (!refuse_mode(t, e) && !refuse_flags(t, e) && !refuse_xattrs(t, e) &&
	    !modfile_build_id(t->fd, t->path, id, e))
		return SWAP_OK;
	trust_close(t);
	return SWAP_REFUSED;
}
