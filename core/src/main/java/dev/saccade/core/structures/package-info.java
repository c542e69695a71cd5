/**
 * The words in which the parts speak with each other: sizes, boxes, masks, instances, batches of
 * images and pyramids of features. What leaves the library towards a user is plain Java; only what
 * flows between layers holds native arrays.
 */
package dev.saccade.core.structures;
