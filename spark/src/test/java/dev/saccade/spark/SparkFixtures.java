package dev.saccade.spark;

import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import org.apache.spark.sql.SparkSession;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A Spark session with two threads that all tests share, its models and images. */
final class SparkFixtures {

    private SparkFixtures() {}

    static SparkSession spark() {
        return SparkSession.builder()
                .master("local[2]")
                .config("spark.ui.enabled", false)
                .config("spark.sql.shuffle.partitions", 4)
                .config("spark.sql.warehouse.dir", "target/spark-warehouse")
                .getOrCreate();
    }

    /** Saves a model with random weights. */
    static Path checkpoint(Path file, TinyModel model) {
        return model.save(file, List.of("a", "b", "c"));
    }

    /** Writes images of several sizes, photo0.png to photo6.png, and a broken one. */
    static Path photos(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (int i = 0; i < 7; i++) {
            TestImages.write(folder.resolve("photo" + i + ".png"), 64 + 8 * i, 96 - 8 * i, i);
        }
        Files.writeString(folder.resolve("broken.png"), "no image");
        return folder;
    }
}
