/**
 * What a run writes down while it goes: a hook, and writers for people ({@code train.log}), for
 * programs ({@code metrics.jsonl}) and for TensorBoard.
 */
package dev.saccade.train.logs;
