/** Reports of runs. */
package dev.saccade.report.runs;
