/** Two-stage heads: Faster and Mask R-CNN, Cascade R-CNN and HTC. */
package dev.saccade.heads.roi;
