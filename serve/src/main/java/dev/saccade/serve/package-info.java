/** A model behind HTTP: a page to try it on, and JSON for programs. */
package dev.saccade.serve;
