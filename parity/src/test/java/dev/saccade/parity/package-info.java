/**
 * Saccade against the code it follows: every folder of recorded numbers is a test. What belongs
 * here is the reading of such folders and, for each kind of them, the few lines that run our code
 * on the recorded input; nothing here computes anything that is checked.
 */
package dev.saccade.parity;
