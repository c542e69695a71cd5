/** Converts libtorch operators to ONNX. */
package dev.saccade.export.onnx;
