/** The learning rate as a pure function of the iteration, so that a resumed run needs no state. */
package dev.saccade.train.schedules;
