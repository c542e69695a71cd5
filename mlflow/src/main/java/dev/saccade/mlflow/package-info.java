/** Logs training runs to an MLflow tracking server. */
package dev.saccade.mlflow;
