/*
 * The CPU of this machine, for which programs are laid out: gains and costs of a transform differ
 * between CPUs (docs/DESIGN.md, "Layout").
 */
#ifndef MORPH_HOST_H
#define MORPH_HOST_H

/* The transforms (enum layout_transform) that gain here. */
unsigned host_transforms(void);

#endif
