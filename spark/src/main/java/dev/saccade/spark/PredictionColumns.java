package dev.saccade.spark;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.udf;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.image.ImageSource;
import dev.saccade.models.TrainedModel;

import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

import java.io.Serializable;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;

/** Adds prediction columns to a table of images, and {@code error} for unreadable images. */
final class PredictionColumns<M extends TrainedModel<?>> implements Serializable {

    /** The image column of Spark's format {@code binaryFile}. */
    static final String CONTENT = "content";

    private static final String PATH = "path";
    private static final String ERROR = "error";

    /** Temporary column with all predictions of a row, so that the model runs once per row. */
    private static final String PREDICTIONS = "_saccade";

    private static final long serialVersionUID = 1L;

    /** Computes the column values of an image. */
    interface Prediction<M> extends Serializable {
        Object[] predict(M model, ImageSource image);
    }

    private final Broadcast<SharedModel<M>> model;
    private final StructType columns;
    private final Prediction<M> prediction;

    PredictionColumns(
            SparkSession spark,
            SharedModel<M> model,
            StructType columns,
            Prediction<M> prediction) {
        this.model = JavaSparkContext.fromSparkContext(spark.sparkContext()).broadcast(model);
        this.columns = columns.add(ERROR, DataTypes.StringType);
        this.prediction = prediction;
    }

    /**
     * Adds the columns to a table with encoded images or file paths. Rejects tables that already
     * have one of these columns.
     */
    Dataset<Row> addTo(Dataset<Row> table, String images) {
        requireNoColumn(table, PREDICTIONS);
        for (String name : columns.fieldNames()) {
            requireNoColumn(table, name);
        }
        Dataset<Row> predicted = table.withColumn(PREDICTIONS, predictions(table, images));
        for (String name : columns.fieldNames()) {
            predicted = predicted.withColumn(name, col(PREDICTIONS).getField(name));
        }
        return predicted.drop(PREDICTIONS);
    }

    private static void requireNoColumn(Dataset<Row> table, String name) {
        Optional<StructField> field = find(table, name);
        if (field.isPresent()) {
            throw SaccadeException.user(
                    "the table already has a column %s; rename it:"
                            + " withColumnRenamed(\"%s\", ...)",
                    field.get().name(), field.get().name());
        }
    }

    private static Optional<StructField> find(Dataset<Row> table, String name) {
        return Arrays.stream(table.schema().fields())
                .filter(field -> field.name().equalsIgnoreCase(name))
                .findFirst();
    }

    private Column predictions(Dataset<Row> table, String images) {
        Optional<StructField> field = find(table, images);
        if (field.isEmpty()) {
            throw SaccadeException.user(
                    "the table has no column %s; expected one of %s",
                    images, Arrays.toString(table.columns()));
        }
        DataType type = field.get().dataType();
        // Spark would call a deterministic function once per column.
        if (type.equals(DataTypes.StringType)) {
            UDF1<String, Row> predict = path -> predict(() -> source(path));
            return udf(predict, columns).asNondeterministic().apply(column(images));
        }
        if (type.equals(DataTypes.BinaryType)) {
            UDF2<String, byte[], Row> predict = (path, bytes) -> predict(() -> source(path, bytes));
            return udf(predict, columns).asNondeterministic().apply(name(table), column(images));
        }
        throw SaccadeException.user(
                "column %s: got type %s, expected binary (encoded images) or string (file"
                        + " paths)",
                images, type.simpleString());
    }

    /** Returns the path column, which names images in messages, or a null column. */
    private static Column name(Dataset<Row> table) {
        return find(table, PATH)
                .filter(field -> field.dataType().equals(DataTypes.StringType))
                .map(field -> column(field.name()))
                .orElse(lit(null).cast(DataTypes.StringType));
    }

    private static Column column(String name) {
        return col("`" + name.replace("`", "``") + "`");
    }

    private Row predict(Supplier<ImageSource> image) {
        return model.value().use(loaded -> row(loaded, image));
    }

    private Row row(M loaded, Supplier<ImageSource> image) {
        try {
            Object[] values = prediction.predict(loaded, image.get());
            return RowFactory.create(Arrays.copyOf(values, columns.size()));
        } catch (SaccadeException e) {
            if (e.kind() == SaccadeException.Kind.INTERNAL) {
                throw e;
            }
            Object[] values = new Object[columns.size()];
            values[columns.fieldIndex(ERROR)] = e.getMessage();
            return RowFactory.create(values);
        }
    }

    private static ImageSource source(String path, byte[] bytes) {
        if (bytes == null) {
            throw SaccadeException.user(
                    "%s: got null, expected the bytes of an image", path == null ? "image" : path);
        }
        return path == null ? ImageSource.of(bytes) : ImageSource.of(path, bytes);
    }

    private static ImageSource source(String path) {
        if (path == null) {
            throw SaccadeException.user("got null, expected the path of an image");
        }
        try {
            return ImageSource.of(Path.of(path.replaceFirst("^file:/+", "/")));
        } catch (InvalidPathException e) {
            throw SaccadeException.user("%s: is not a valid path: %s", path, e.getMessage());
        }
    }
}
