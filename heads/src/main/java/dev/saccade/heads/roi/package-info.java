/** Heads that propose regions and look at each of them, in one stage or in several. */
package dev.saccade.heads.roi;
