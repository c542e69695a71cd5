/** Reads and writes the file formats of PyTorch without executing code. */
package dev.saccade.checkpoint.pytorch;
