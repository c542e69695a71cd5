package dev.saccade.spark;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.ClassMap;
import dev.saccade.models.Segmenter;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

import java.nio.file.Path;

/**
 * Segments a table of images, with a {@link Segmenter} on every executor.
 *
 * <pre>{@code
 * SparkSegmenter segmenter = SparkSegmenter.load(spark, Path.of("best.safetensors"));
 * Dataset<Row> images = spark.read().format("binaryFile").load("photos/");
 * segmenter.segment(images).selectExpr("path", "fractions['road']").show();
 * }</pre>
 *
 * <p>Adds three columns. {@code labels} is a PNG of the image size with class indices + 1, see
 * {@link ClassMap#toPng}. {@code fractions} maps class names to fractions of the pixels, if above
 * 0. {@code error} is null, or why the image cannot be read; then the other columns are null.
 *
 * <p>As always in Spark, each action computes the predictions again.
 */
public final class SparkSegmenter {

    private static final StructType COLUMNS =
            new StructType()
                    .add("labels", DataTypes.BinaryType)
                    .add(
                            "fractions",
                            DataTypes.createMapType(
                                    DataTypes.StringType, DataTypes.DoubleType, false));

    private final PredictionColumns<Segmenter> columns;

    private SparkSegmenter(PredictionColumns<Segmenter> columns) {
        this.columns = columns;
    }

    /**
     * Returns the segmenter of a checkpoint. Each executor loads the same path, or a file of that
     * name sent by {@link org.apache.spark.SparkContext#addFile}.
     *
     * @throws SaccadeException if the file cannot be read here or is not a segmenter
     */
    public static SparkSegmenter load(SparkSession spark, Path checkpoint) {
        Segmenter.load(checkpoint).close();
        SharedModel<Segmenter> model = new SharedModel<>(Segmenter.class, checkpoint);
        return new SparkSegmenter(
                new PredictionColumns<>(spark, model, COLUMNS, SparkSegmenter::labels));
    }

    /** Adds {@code labels}, {@code fractions} and {@code error} to a {@code binaryFile} table. */
    public Dataset<Row> segment(Dataset<Row> images) {
        return segment(images, PredictionColumns.CONTENT);
    }

    /**
     * Adds {@code labels}, {@code fractions} and {@code error} to a table.
     *
     * @param column encoded images, or file paths that every executor can read. An optional column
     *     {@code path} names images in errors
     * @throws SaccadeException of kind user, if the column is missing or has another type, or a new
     *     column already exists
     */
    public Dataset<Row> segment(Dataset<Row> images, String column) {
        return columns.addTo(images, column);
    }

    private static Object[] labels(Segmenter segmenter, ImageSource image) {
        ClassMap map = segmenter.segment(image);
        return new Object[] {map.toPng(), map.fractions()};
    }
}
