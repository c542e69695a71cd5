/**
 * Anchor-based dense heads. Custom heads extend {@link dev.saccade.heads.anchor.DenseHead} or
 * {@link dev.saccade.heads.anchor.AnchorHead}.
 */
package dev.saccade.heads.anchor;
