/** Tests of published poms and jars, and of the pages about builds. */
package dev.saccade.examples.artifacts;
