/** Feature pyramids to feature pyramids. */
package dev.saccade.necks;
