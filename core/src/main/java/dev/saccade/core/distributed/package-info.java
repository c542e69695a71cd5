/** Ranks: processes, or threads of one, that compute together. */
package dev.saccade.core.distributed;
