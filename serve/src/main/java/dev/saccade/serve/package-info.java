/** HTTP server for a model: a page to try it and a JSON API. */
package dev.saccade.serve;
