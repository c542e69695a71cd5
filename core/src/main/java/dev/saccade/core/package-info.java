/**
 * Foundation of all modules: errors, randomness and devices. Data types are in {@code structures},
 * layers in {@code nn}, operators in {@code ops} and component interfaces in {@code components}.
 * Nothing here depends on a specific backbone, head or data set.
 */
package dev.saccade.core;
