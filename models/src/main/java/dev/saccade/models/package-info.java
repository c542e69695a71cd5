/** Models built from configs, trained models, and their predictions. */
package dev.saccade.models;
