/** Distributed computation on several ranks, which are processes or threads. */
package dev.saccade.core.distributed;
