/** Renders photo-like scenes of small objects on a table, with labels. */
package dev.saccade.demo;
