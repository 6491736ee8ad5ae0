/*
 * What was fitted to data: by share of the complete profile's reduction in taken branches, on the
 * ten programs of docs/notes/inference.md, where changes by half or by two gave at most .1 points.
 * Each earns its place on nine programs on which nothing was fitted (there, "What is worth its
 * place"): the points lost without it are given.
 */
#ifndef MORPH_INFER_CONSTANTS_H
#define MORPH_INFER_CONSTANTS_H

/* Squared relative error of a block's samples that does not fall with their number: skid, slow
 * instructions. 2.6 +- 0.8 points. */
#define BLOCK_BIAS 0.3
/* The weight of too few samples in a block of one instruction; of n instructions n² times as much.
 * Nearly all samples of a short block may be attributed elsewhere: a compare and its jump retire
 * with the instructions before them. 3.4 +- 3.5 points. */
#define HIDDEN 0.25
/* Outcomes that all successors, or predecessors, of a block without any count as: there has to be
 * a number. 0.5 +- 0.3 points for a fifth of it. */
#define UNSEEN_SHARE 0.5
/* The share of these that a jump forward has of its fallthrough's: GCC lets the likelier successor
 * follow. By how often such jumps are taken: .36 of four programs' branches, .31 of the executions.
 */
#define FORWARD_JUMP 0.45
/* Inverse of the most that resolved outcomes of a branch are worth. 1.6 +- 0.9 points. */
#define OUTCOME_BIAS 0.01

#endif
