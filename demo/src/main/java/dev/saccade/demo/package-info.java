/** Photographs-like scenes of small things on a table, rendered with their labels. */
package dev.saccade.demo;
