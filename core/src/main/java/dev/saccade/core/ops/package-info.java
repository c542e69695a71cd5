/**
 * The operators that DJL lacks, written as scripts of ATen operators, and the rules by which native
 * memory and gradients are kept: {@code Scope} frees what an operation needed in between, {@code
 * NoGrad} keeps inference from recording a graph.
 */
package dev.saccade.core.ops;
