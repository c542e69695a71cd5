/** Runs as a tracking server of MLflow shows them. */
package dev.saccade.train.mlflow;
