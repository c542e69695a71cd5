/** Compares Saccade with recorded results of the original code; every recorded case is a test. */
package dev.saccade.parity;
