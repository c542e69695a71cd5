/** TIDE's breakdown of detection errors. */
package dev.saccade.eval.tide;
