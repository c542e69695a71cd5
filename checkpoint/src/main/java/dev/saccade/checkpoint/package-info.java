/**
 * Named tensors on disk: Saccade's own container (safetensors with metadata and a checksum),
 * PyTorch's {@code .pth} files read and written without executing anything, and how tensors get
 * into a {@link dev.saccade.core.nn.Module} by name. No model is built here.
 */
package dev.saccade.checkpoint;
