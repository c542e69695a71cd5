/** Saccade's models for DJL: a model zoo, blocks, translators, and folders for DJL Serving. */
package dev.saccade.djl;
