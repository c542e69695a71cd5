/** The published recipes as they come with the library, what is published of each, and weights. */
package dev.saccade.models.zoo;
