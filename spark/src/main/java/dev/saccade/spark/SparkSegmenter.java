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
 * Tells the class of every pixel of the photographs of a table: a {@link Segmenter} on every
 * executor.
 *
 * <pre>{@code
 * SparkSegmenter segmenter = SparkSegmenter.load(spark, Path.of("best.safetensors"));
 * Dataset<Row> photos = spark.read().format("binaryFile").load("photos/");
 * segmenter.segment(photos).selectExpr("path", "shares['road']").show();
 * }</pre>
 *
 * <p>The table keeps its columns and gets three more. {@code labels} is a PNG of the size of the
 * photograph, whose numbers are the positions of the classes + 1: as in {@link ClassMap#toPng}.
 * {@code shares} are those of the classes by name, above 0 to 1. {@code error} is null; only a
 * photograph that is missing or no usable image has neither but an error that says what is wrong
 * with it.
 *
 * <p>As always in Spark, nothing is computed before an action, and anew for each one.
 */
public final class SparkSegmenter {

    private static final StructType COLUMNS =
            new StructType()
                    .add("labels", DataTypes.BinaryType)
                    .add(
                            "shares",
                            DataTypes.createMapType(
                                    DataTypes.StringType, DataTypes.DoubleType, false));

    private final PredictionColumns<Segmenter> columns;

    private SparkSegmenter(PredictionColumns<Segmenter> columns) {
        this.columns = columns;
    }

    /**
     * Returns the segmenter of a checkpoint, which each executor loads once, from the same path or
     * from a file of that name that {@link org.apache.spark.SparkContext#addFile} has sent.
     *
     * @throws SaccadeException if the file cannot be read here or holds no segmenter
     */
    public static SparkSegmenter load(SparkSession spark, Path checkpoint) {
        Segmenter.load(checkpoint).close();
        SharedModel<Segmenter> model = new SharedModel<>(Segmenter.class, checkpoint);
        return new SparkSegmenter(
                new PredictionColumns<>(spark, model, COLUMNS, SparkSegmenter::labels));
    }

    /**
     * Returns a table that Spark has read in the format {@code binaryFile}, with the columns {@code
     * labels}, {@code shares} and {@code error}.
     *
     * @throws SaccadeException of kind user, if it has no column {@code content}, or has one of
     *     those already
     */
    public Dataset<Row> segment(Dataset<Row> images) {
        return segment(images, PredictionColumns.CONTENT);
    }

    /**
     * Returns a table with the columns {@code labels}, {@code shares} and {@code error}.
     *
     * @param column where the photographs are: the bytes of their files or, as strings, the paths
     *     of files that every executor can read. A column {@code path}, if there is one, is what
     *     errors call bytes
     * @throws SaccadeException of kind user, if the table has no such column, one of another type,
     *     or one of the new ones already
     */
    public Dataset<Row> segment(Dataset<Row> images, String column) {
        return columns.addTo(images, column);
    }

    private static Object[] labels(Segmenter segmenter, ImageSource image) {
        ClassMap map = segmenter.segment(image);
        return new Object[] {map.toPng(), map.shares()};
    }
}
