/** Learning rate schedules: functions of the iteration, without state. */
package dev.saccade.train.schedules;
