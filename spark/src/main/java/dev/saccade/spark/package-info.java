/**
 * Detection and segmentation of the photographs of a table of Apache Spark, and training on its
 * executors.
 */
package dev.saccade.spark;
