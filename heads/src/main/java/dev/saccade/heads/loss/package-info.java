/**
 * What predictions cost that are wrong.
 *
 * <p>One convention for all losses of all heads: a loss returns the sum of what each element costs,
 * times the weight of the element and times {@code loss_weight}, a scalar that is 0 for no
 * elements. It divides by nothing. The head that calls it divides by its normalizer (mmdetection's
 * {@code avg_factor}), such as the number of anchors that are positive, once for the whole batch.
 */
package dev.saccade.heads.loss;
