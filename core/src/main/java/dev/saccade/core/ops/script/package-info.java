/** TorchScript operators: compiling, tracing, counting, and native replacements. */
package dev.saccade.core.ops.script;
