/**
 * Losses of boxes, classes and masks. Custom losses are records that implement one of the
 * interfaces and are listed in a {@link dev.saccade.core.components.ComponentProvider}.
 *
 * <p>All losses return the sum over the elements times their weights and {@code loss_weight}: a
 * scalar, 0 without elements. The calling head divides by its {@code avg_factor}, such as the
 * number of positive anchors, once per batch.
 */
package dev.saccade.heads.loss;
