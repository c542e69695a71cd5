/** Detection and segmentation of the photographs of a table of Apache Spark. */
package dev.saccade.spark;
