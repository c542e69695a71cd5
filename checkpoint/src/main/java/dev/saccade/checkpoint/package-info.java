/**
 * Checkpoint files: safetensors with metadata and a checksum, and PyTorch's {@code .pth} files,
 * read without executing code. Loads tensors into a {@link dev.saccade.core.nn.Module} by name.
 */
package dev.saccade.checkpoint;
