/** Helpers for the tests of modules above {@code models}. */
package dev.saccade.testsupport;
