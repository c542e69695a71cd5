/** What a report says of a run, and where it is kept. */
package dev.saccade.report.runs;
