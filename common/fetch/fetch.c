#include "common/fetch/fetch.h"
#include "common/fetch/download.h"
#include "common/fetch/minisign.h"

#include <stdlib.h>
#include <string.h>

enum { SIGNATURE_MAX = 4096 };

static int check_signature(const char *key, const char *url, const struct buf *b, struct err *e)
{
	char *of = xasprintf("%s.minisig", url);
	struct buf text = {0};
	int r = download(of, SIGNATURE_MAX, &text, e);

	if (!r)
		r = err_set(e, "%s: not there", of);
	else if (r > 0 && (r = minisign_verify(key, buf_cstr(&text), b->p, b->n, e)))
		err_wrap(e, "%s", of);
	buf_free(&text);
	free(of);
	return r;
}

int fetch_artifact(
    const char *server, const char *key, const struct build_id *id, struct buf *out, struct err *e)
{
	char hex[BUILD_ID_HEX], *url;
	int r;

	if (!key && strncmp(server, "https://", 8))
		return err_set(e, "%s: without a key only https is believed", server);
	url = xasprintf("%s/buildid/%s/morph", server, build_id_hex(id, hex));
	r = download(url, FETCH_MAX, out, e);
	if (r > 0 && key && check_signature(key, url, out, e))
		r = -1;
	free(url);
	return r;
}
