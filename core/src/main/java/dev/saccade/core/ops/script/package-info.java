/** Operators written in TorchScript: compiled, traced, counted and replaced by native kernels. */
package dev.saccade.core.ops.script;
