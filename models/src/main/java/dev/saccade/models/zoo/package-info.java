/** The published recipes as they come with the library, and what is published of each. */
package dev.saccade.models.zoo;
