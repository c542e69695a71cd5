package dev.saccade.spark;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.Box;
import dev.saccade.models.DetectedObject;
import dev.saccade.models.Detector;
import dev.saccade.models.ScoreThresholds;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

import java.nio.file.Path;
import java.util.List;

/**
 * Detects objects in a table of images, with a {@link Detector} on every executor.
 *
 * <pre>{@code
 * SparkDetector detector = SparkDetector.load(spark, Path.of("best.safetensors"));
 * Dataset<Row> images = spark.read().format("binaryFile").load("photos/");
 * detector.detect(images).drop("content").write().parquet("found");
 * }</pre>
 *
 * <p>Adds two columns. {@code objects} are the detections by descending score, equal to {@link
 * Detector#detect(byte[])}: an array of {@code label}, {@code class_index}, {@code score}, {@code
 * x1}, {@code y1}, {@code x2}, {@code y2} and {@code mask}, which is null for detectors without
 * masks, or has {@code height}, {@code width} and {@code counts} in COCO's compressed format, see
 * {@link Rle#fromString}. {@code error} is null, or the reason why the image cannot be read; then
 * {@code objects} is null.
 *
 * <p>As always in Spark, each action computes the predictions again.
 */
public final class SparkDetector {

    private static final StructType MASK =
            StructType.fromDDL("height INT NOT NULL, width INT NOT NULL, counts STRING NOT NULL");

    private static final StructType OBJECT =
            StructType.fromDDL(
                            "label STRING NOT NULL, class_index INT NOT NULL, score DOUBLE NOT NULL,"
                                    + " x1 DOUBLE NOT NULL, y1 DOUBLE NOT NULL,"
                                    + " x2 DOUBLE NOT NULL, y2 DOUBLE NOT NULL")
                    .add("mask", MASK, true);

    private static final StructType COLUMNS =
            new StructType().add("objects", DataTypes.createArrayType(OBJECT, false));

    private final SparkSession spark;
    private final SharedModel<Detector> model;
    private final PredictionColumns<Detector> columns;

    private SparkDetector(
            SparkSession spark,
            SharedModel<Detector> model,
            PredictionColumns.Prediction<Detector> prediction) {
        this.spark = spark;
        this.model = model;
        this.columns = new PredictionColumns<>(spark, model, COLUMNS, prediction);
    }

    /**
     * Returns the detector of a checkpoint. Each executor loads the same path, or a file of that
     * name sent by {@link org.apache.spark.SparkContext#addFile}.
     *
     * @throws SaccadeException if the file cannot be read here or is not a detector
     */
    public static SparkDetector load(SparkSession spark, Path checkpoint) {
        Detector.load(checkpoint).close();
        SharedModel<Detector> model = new SharedModel<>(Detector.class, checkpoint);
        return new SparkDetector(spark, model, (detector, image) -> rows(detector.detect(image)));
    }

    /**
     * Returns the detector with another minimum score, 0 to 1. The default is the score that the
     * checkpoint recommends.
     */
    public SparkDetector withMinScore(double minScore) {
        double score = ScoreThresholds.of(minScore).overall();
        return new SparkDetector(
                spark, model, (detector, image) -> rows(detector.detect(image, score)));
    }

    /** Adds {@code objects} and {@code error} to a table in format {@code binaryFile}. */
    public Dataset<Row> detect(Dataset<Row> images) {
        return detect(images, PredictionColumns.CONTENT);
    }

    /**
     * Adds {@code objects} and {@code error} to a table.
     *
     * @param column encoded images, or file paths that every executor can read. An optional column
     *     {@code path} names images in errors
     * @throws SaccadeException of kind user, if the column is missing or has another type, or a new
     *     column already exists
     */
    public Dataset<Row> detect(Dataset<Row> images, String column) {
        return columns.addTo(images, column);
    }

    private static Object[] rows(List<DetectedObject> objects) {
        return new Object[] {objects.stream().map(SparkDetector::row).toList()};
    }

    private static Row row(DetectedObject object) {
        Box box = object.box();
        return RowFactory.create(
                object.label(),
                object.classIndex(),
                object.score(),
                box.x1(),
                box.y1(),
                box.x2(),
                box.y2(),
                object.mask().map(SparkDetector::row).orElse(null));
    }

    private static Row row(Rle mask) {
        return RowFactory.create(
                mask.size().height(), mask.size().width(), mask.toCompressedString());
    }
}
