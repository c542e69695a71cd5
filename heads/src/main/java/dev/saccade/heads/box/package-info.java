/**
 * Assigners, samplers, box coders and NMS. Custom ones are records that implement one of the
 * interfaces and are listed in a {@link dev.saccade.core.parts.PartProvider}.
 */
package dev.saccade.heads.box;
