/** Bootstrap intervals of metrics over images. */
package dev.saccade.eval.bootstrap;
