/* What the ladder needs to know about a module, gathered; and what it answers. */
#ifndef MORPH_MANAGERD_JUDGE_H
#define MORPH_MANAGERD_JUDGE_H

#include "managerd/cycle/changes.h"
#include "managerd/cycle/record.h"
#include "managerd/cycle/trials.h"
#include "managerd/decide/idlewatch.h"
#include "managerd/job/edit.h"

/* Whether the last layout was made with another list of functions than the policy names now, or
 * with none, or the policy names none any more; but not where the program has none of them. */
bool judge_reordered(const struct module *mod);
/* Climbs the ladder for a module that is loaded; asker NULL = nobody. */
void judge(struct core *c, const struct trials *ts, const struct idle *idle, struct module *mod,
    const struct change_entry *asker, struct decay at, struct decision *d);
/* Says it, once per change of mind. */
void judge_log(const struct core *c, const struct module *mod, const struct decision *d);
void judge_idle(const struct conf *conf, const struct idle *idle, char *text, size_t n);
/* The editor's estimate, from this profile, becomes the module's, as was measured of others. */
void judge_score(struct module *mod, const struct trials *ts, const struct editanswer *a,
    const struct made *from, struct decay at);
/* The same of the build that was made, whose addresses are known; without an estimate before it
 * nobody knows how sure that is. */
void judge_build(struct module *mod, const struct trials *ts, const struct made *b);

#endif
