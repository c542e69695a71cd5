/** Logs of a run: {@code train.log}, {@code metrics.jsonl} and TensorBoard. */
package dev.saccade.train.logs;
