/** Models for programs without Saccade: what they compute, recorded, as TorchScript and ONNX. */
package dev.saccade.export;
