/**
 * From the scores of a network to the class of every pixel of a photograph, in memory that does not
 * grow with the photograph times the classes.
 */
package dev.saccade.models.segmentation;
