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
 * Finds objects in the photographs of a table: a {@link Detector} on every executor.
 *
 * <pre>{@code
 * SparkDetector detector = SparkDetector.load(spark, Path.of("best.safetensors"));
 * Dataset<Row> photos = spark.read().format("binaryFile").load("photos/");
 * detector.detect(photos).drop("content").write().parquet("found");
 * }</pre>
 *
 * <p>The table keeps its columns and gets two more. {@code objects} are those of the photograph,
 * best first, as {@link Detector#detect(byte[])} returns them: an array of {@code label}, {@code
 * class_index}, {@code score}, {@code x1}, {@code y1}, {@code x2}, {@code y2} and {@code mask},
 * which is null if the detector tells none, or has {@code height}, {@code width} and, in COCO's
 * compressed form, {@code counts}: {@link Rle#fromString}. {@code error} is null; only a photograph
 * that is missing or no usable image has no objects but an error that says what is wrong with it.
 *
 * <p>As always in Spark, nothing is computed before an action, and anew for each one.
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
     * Returns the detector of a checkpoint, which each executor loads once, from the same path or
     * from a file of that name that {@link org.apache.spark.SparkContext#addFile} has sent.
     *
     * @throws SaccadeException if the file cannot be read here or holds no detector
     */
    public static SparkDetector load(SparkSession spark, Path checkpoint) {
        Detector.load(checkpoint).close();
        SharedModel<Detector> model = new SharedModel<>(Detector.class, checkpoint);
        return new SparkDetector(spark, model, (detector, image) -> rows(detector.detect(image)));
    }

    /**
     * Returns this detector with another minimum score, which is by default the recommended one of
     * the checkpoint.
     *
     * @param minScore 0 to 1; 0 returns all detections
     * @throws SaccadeException of kind user, if it is outside 0 to 1
     */
    public SparkDetector withMinScore(double minScore) {
        double score = ScoreThresholds.of(minScore).overall();
        return new SparkDetector(
                spark, model, (detector, image) -> rows(detector.detect(image, score)));
    }

    /**
     * Returns a table that Spark has read in the format {@code binaryFile}, with the columns {@code
     * objects} and {@code error}.
     *
     * @throws SaccadeException of kind user, if it has no column {@code content}, or has {@code
     *     objects} or {@code error} already
     */
    public Dataset<Row> detect(Dataset<Row> images) {
        return detect(images, PredictionColumns.CONTENT);
    }

    /**
     * Returns a table with the columns {@code objects} and {@code error}.
     *
     * @param column where the photographs are: the bytes of their files or, as strings, the paths
     *     of files that every executor can read. A column {@code path}, if there is one, is what
     *     errors call bytes
     * @throws SaccadeException of kind user, if the table has no such column, one of another type,
     *     or {@code objects} or {@code error} already
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
