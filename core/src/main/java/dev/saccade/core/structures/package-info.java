/**
 * Data types shared by all modules: sizes, boxes, masks, instances, batches and pyramids. Only
 * batches, pyramids and losses hold native arrays.
 */
package dev.saccade.core.structures;
