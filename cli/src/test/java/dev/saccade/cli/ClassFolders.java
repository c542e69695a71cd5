package dev.saccade.cli;

import dev.saccade.datasets.image.OpenCv;

import org.opencv.core.CvType;
import org.opencv.core.Mat;
import org.opencv.core.Scalar;

import java.nio.file.Path;
import java.util.List;

/** Writes small images of three classes, which differ in color. */
final class ClassFolders {

    static final List<String> CLASSES = List.of("Platelets", "RBC", "WBC");

    /** Settings of a small model. */
    static final List<String> SMALL =
            List.of(
                    "model.backbone.stem_channels=4",
                    "model.backbone.base_channels=4",
                    "data.image_size=[32, 32]");

    private static final List<Scalar> COLORS =
            List.of(new Scalar(200, 60, 120), new Scalar(90, 90, 220), new Scalar(150, 40, 60));

    private ClassFolders() {}

    /** Writes {@code folder/CLASS/N.png} for each class. */
    static void write(Path folder, int first, int imagesPerClass) {
        OpenCv.load();
        for (int label = 0; label < CLASSES.size(); label++) {
            for (int i = first; i < first + imagesPerClass; i++) {
                writeImage(folder.resolve(CLASSES.get(label) + "/" + i + ".png"), label, i);
            }
        }
    }

    static void writeImage(Path file, int label, int variant) {
        OpenCv.load();
        Mat image = new Mat(36, 40, CvType.CV_8UC3, new Scalar(210, 215, 220));
        int edge = 10 + variant % 8;
        image.submat(6, 6 + edge, 4 + variant % 5, 4 + variant % 5 + edge).setTo(COLORS.get(label));
        ImageFiles.write(image, file);
        image.release();
    }
}
