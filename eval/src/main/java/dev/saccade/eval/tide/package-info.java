/** Why a detector is not better: TIDE's breakdown of errors. */
package dev.saccade.eval.tide;
