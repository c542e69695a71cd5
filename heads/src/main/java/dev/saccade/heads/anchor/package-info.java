/**
 * Heads that look at anchors, all over the levels of a pyramid. What they have in common is {@link
 * dev.saccade.heads.anchor.AnchorHead}; a head of one's own adds its layers to it.
 */
package dev.saccade.heads.anchor;
