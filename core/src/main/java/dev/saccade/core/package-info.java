/**
 * What every module of Saccade stands on: errors, randomness and, in the packages below, the words
 * ({@code structures}), the layers ({@code nn}), the operators ({@code ops}) and the contracts of
 * the parts ({@code parts}). Nothing here knows a particular backbone, head or data set.
 */
package dev.saccade.core;
