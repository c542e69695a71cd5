/** Saccade's models as DJL's: a model zoo, blocks, translators, and folders for DJL Serving. */
package dev.saccade.djl;
