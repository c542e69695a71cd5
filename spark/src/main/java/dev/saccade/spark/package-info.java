/** Predictions for tables of images and training with Apache Spark. */
package dev.saccade.spark;
