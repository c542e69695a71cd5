/** Operators of libtorch in those of ONNX. */
package dev.saccade.export.onnx;
