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
import org.apache.spark.sql.expressions.UserDefinedFunction;
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

/**
 * The columns that a model adds to a table of photographs: what it says about each, and an {@code
 * error} that is null unless the photograph cannot be read.
 */
final class Answers<M extends TrainedModel<?>> implements Serializable {

    /** Where the format {@code binaryFile} has the photographs. */
    static final String CONTENT = "content";

    private static final String PATH = "path";
    private static final String ERROR = "error";

    /** Holds the answers while a row is made, so that the model is asked once a row. */
    private static final String TOGETHER = "_saccade";

    private static final long serialVersionUID = 1L;

    /** What is wanted to know about a photograph: the values of the columns. */
    interface Question<M> extends Serializable {
        Object[] ask(M model, ImageSource photo);
    }

    private final Broadcast<SharedModel<M>> model;
    private final StructType columns;
    private final Question<M> question;

    /** Sends the model to the executors; the columns are what the values of the question are. */
    Answers(SparkSession spark, SharedModel<M> model, StructType columns, Question<M> question) {
        this.model = JavaSparkContext.fromSparkContext(spark.sparkContext()).broadcast(model);
        this.columns = columns.add(ERROR, DataTypes.StringType);
        this.question = question;
    }

    /**
     * Returns the table with the columns.
     *
     * @param photos a column of the encoded bytes of photographs, or of their files
     * @throws SaccadeException of kind user, if there is no such column, or one of the new columns
     */
    Dataset<Row> addTo(Dataset<Row> table, String photos) {
        refuseColumn(table, TOGETHER);
        for (String name : columns.fieldNames()) {
            refuseColumn(table, name);
        }
        Dataset<Row> answered = table.withColumn(TOGETHER, answers(table, photos));
        for (String name : columns.fieldNames()) {
            answered = answered.withColumn(name, col(TOGETHER).getField(name));
        }
        return answered.drop(TOGETHER);
    }

    private static void refuseColumn(Dataset<Row> table, String name) {
        find(table, name)
                .ifPresent(
                        field -> {
                            throw SaccadeException.user(
                                    "the table has a column %s already; give it another name:"
                                            + " withColumnRenamed(\"%s\", ...)",
                                    field.name(), field.name());
                        });
    }

    private static Optional<StructField> find(Dataset<Row> table, String name) {
        return Arrays.stream(table.schema().fields())
                .filter(field -> field.name().equalsIgnoreCase(name))
                .findFirst();
    }

    private Column answers(Dataset<Row> table, String photos) {
        DataType type =
                find(table, photos)
                        .map(StructField::dataType)
                        .orElseThrow(
                                () ->
                                        SaccadeException.user(
                                                "the table has no column %s; expected one of %s",
                                                photos, Arrays.toString(table.columns())));
        Column photo = column(photos);
        if (type.equals(DataTypes.StringType)) {
            UDF1<String, Row> ask = path -> answer(() -> source(path));
            return once(udf(ask, columns)).apply(photo);
        }
        if (type.equals(DataTypes.BinaryType)) {
            UDF2<String, byte[], Row> ask = (path, bytes) -> answer(() -> source(path, bytes));
            return once(udf(ask, columns)).apply(name(table), photo);
        }
        throw SaccadeException.user(
                "the column %s is of type %s; expected binary, the bytes of photographs, or string,"
                        + " their files",
                photos, type.simpleString());
    }

    /** Keeps Spark from asking again for each of the columns. */
    private static UserDefinedFunction once(UserDefinedFunction function) {
        return function.asNondeterministic();
    }

    /** Returns what messages call a photograph: its path, if the table has it. */
    private static Column name(Dataset<Row> table) {
        return find(table, PATH)
                .filter(field -> field.dataType().equals(DataTypes.StringType))
                .map(field -> column(field.name()))
                .orElse(lit(null).cast(DataTypes.StringType));
    }

    private static Column column(String name) {
        return col("`" + name.replace("`", "``") + "`");
    }

    private Row answer(Supplier<ImageSource> photo) {
        return model.value().ask(loaded -> answer(loaded, photo));
    }

    private Row answer(M loaded, Supplier<ImageSource> photo) {
        try {
            Object[] values = question.ask(loaded, photo.get());
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
                    "%s: null, expected the bytes of an image", path == null ? "image" : path);
        }
        return path == null ? ImageSource.of(bytes) : ImageSource.of(path, bytes);
    }

    private static ImageSource source(String path) {
        if (path == null) {
            throw SaccadeException.user("null, expected the path of an image");
        }
        try {
            return ImageSource.of(Path.of(path.replaceFirst("^file:/+", "/")));
        } catch (InvalidPathException e) {
            throw SaccadeException.user("%s: is no path: %s", path, e.getMessage());
        }
    }
}
