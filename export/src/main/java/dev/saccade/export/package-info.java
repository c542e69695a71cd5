/** Exports models as TorchScript and ONNX. */
package dev.saccade.export;
