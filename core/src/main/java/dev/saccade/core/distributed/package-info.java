/** Distributed computation on multiple ranks, which are processes or threads. */
package dev.saccade.core.distributed;
