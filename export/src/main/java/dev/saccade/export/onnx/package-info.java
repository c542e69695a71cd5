/** Converts operators of libtorch to ONNX. */
package dev.saccade.export.onnx;
