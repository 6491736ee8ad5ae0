/* Layouts of a recorded program, by morph-edit over its artifact; the other half of subject.h. */
#ifndef MORPH_MANAGERD_REAL_H
#define MORPH_MANAGERD_REAL_H

#include "managerd/simulate/subject.h"

/* Writes the file of all samples that the trace has of it. */
void real_whole(struct subject *s);
/* As subject_lay_out() and the rest of subject.h. What is only to be judged is not built. */
struct layout *real_lay_out(struct subject *s, const struct buf *samples, struct err *e);
int real_ask(struct subject *s, const struct layout *present, const struct buf *samples,
    struct layout **build, struct buf *json, struct err *e);
/* Under all samples of the trace; 0 where the editor cannot say. */
double real_gain(struct subject *s, const struct layout *l);
double real_best(struct subject *s);

#endif
