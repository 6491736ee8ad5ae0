/*
 * The CPU of this machine, for which programs are laid out: what a layout gains, and
 * what costs it, is not the same on all of them (docs/DESIGN.md, "Layout").
 */
#ifndef MORPH_HOST_H
#define MORPH_HOST_H

/* The transforms (enum layout_transform) that win here. */
unsigned host_transforms(void);

#endif
