/** Parts of detectors as others bring them: from another package, named in {@code META-INF}. */
package dev.saccade.models.own;
