#include "common/artifact/artifact.h"
#include "managerd/samples/map.h"

int map_table_of(struct artifact *a, struct map_table *t, struct err *e)
{
	const struct art_func *f;
	const struct art_tu *tu;
	size_t i, n = artifact_funcs(a, &f), ntu = artifact_tus(a, &tu);

	for (i = 0; i < n; i++)
		if (f[i].tu < ntu)
			map_table_add(t, &(struct map_func){.key = f[i].key,
					     .tu = hash_short(&tu[f[i].tu].hash),
					     .ord = f[i].ord,
					     .nblock = f[i].nblock,
					     .name = f[i].name,
					     .tu_name = tu[f[i].tu].name,
					     .opaque = *f[i].opaque ? f[i].opaque : NULL});
	return map_table_end(t, e);
}
