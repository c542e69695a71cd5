/** Self-contained HTML reports. */
package dev.saccade.report;
