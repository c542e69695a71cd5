/**
 * What a run tells while it goes: one listener interface, and writers of it for people ({@code
 * train.log}), for programs ({@code metrics.jsonl}) and for TensorBoard.
 */
package dev.saccade.train.logs;
