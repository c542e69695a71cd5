/**
 * Assigners, samplers, box coders and NMS. Custom components are records that implement one of the
 * interfaces and are listed in a {@link dev.saccade.core.components.ComponentProvider}.
 */
package dev.saccade.heads.box;
