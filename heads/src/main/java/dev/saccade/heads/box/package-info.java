/** Which boxes learn what, how they are written, and which of them are kept. */
package dev.saccade.heads.box;
