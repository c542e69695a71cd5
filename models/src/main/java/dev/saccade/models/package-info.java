/** Configs to models, and checkpoints. */
package dev.saccade.models;
