/** Tests of what is published: poms, jars, and the pages that tell how to build with them. */
package dev.saccade.examples.artifacts;
