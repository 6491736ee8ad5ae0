/*
 * What the manager knows as the JSON of docs/API.md. Each returns a new
 * reference, never NULL.
 */
#ifndef MORPH_MANAGERD_JSON_H
#define MORPH_MANAGERD_JSON_H

#include "managerd/cycle/cycle.h"
#include "managerd/store/addresses.h"
#include "managerd/store/store.h"

#include <jansson.h>

/* Text that may be no UTF-8 (a path): odd bytes become '?'. NULL: null. */
json_t *json_text(const char *s);

/* working_visible: whether the peer may know which module is worked on. */
json_t *json_status(const struct manager_status *s, bool working_visible);
/* What is being done, or null. */
json_t *json_working(const struct manager_status *s, bool visible);
/* trial: its last one, legacy: where it has no artifact, last: its last decision, or NULL. */
json_t *json_module(const struct store_module *m, double samples, bool can_rollback,
    const struct manager_trial *trial, const struct manager_legacy *legacy,
    const struct store_decision *last);
json_t *json_decision(const struct store_decision *d);
/* The rungs of a decision with its steps. */
json_t *json_ladder(const struct store_decision *d);
/* A list of functions that come first. */
json_t *json_order(const struct manager_order *o);
json_t *json_event(const struct store_event *ev);
/* left_s: of its step; NAN = not known. */
json_t *json_change(const struct change *c, double left_s);
/* p: as of now, of a program of so many functions. At most max_functions, of each at most
 * max_blocks. */
json_t *json_profile(const struct store_module *m, const struct profile *p, size_t total,
    struct decay at, size_t max_functions, size_t max_blocks);

/* module_visible: whether the peer may know whose build it is. */
json_t *json_file(const struct address_file *f, bool module_visible);

#endif
