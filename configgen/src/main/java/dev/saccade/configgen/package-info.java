/** Configs for data that nobody has written one for: what lies in a folder, and what suits it. */
package dev.saccade.configgen;
