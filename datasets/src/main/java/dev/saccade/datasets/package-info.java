/**
 * What a data set is: photographs, annotations, the transforms between them and a sample, and what
 * a check reports. Readers of files, checks, transforms and the loader have folders of their own.
 */
package dev.saccade.datasets;
