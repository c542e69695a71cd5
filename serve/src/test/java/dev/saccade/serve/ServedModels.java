package dev.saccade.serve;

import dev.saccade.datasets.transforms.Resize;
import dev.saccade.models.Classifier;
import dev.saccade.models.Detector;
import dev.saccade.models.Segmenter;
import dev.saccade.testsupport.TestImages;
import dev.saccade.testsupport.TinyModel;

import java.nio.file.Path;
import java.util.List;

/** Models and images for the tests. */
final class ServedModels {

    private static final List<String> CLASSES = List.of("a \"b\"", "<c>", "d");

    private ServedModels() {}

    static Detector detector(Path folder) {
        return Detector.load(save(TinyModel.MASK_RCNN, folder.resolve("detector.safetensors")));
    }

    static Segmenter segmenter(Path folder) {
        return Segmenter.load(
                save(TinyModel.SEMANTIC_FPN, folder.resolve("segmenter.safetensors")));
    }

    static Classifier classifier(Path folder) {
        return Classifier.load(
                save(TinyModel.CLASSIFIER, folder.resolve("classifier.safetensors")));
    }

    private static Path save(TinyModel model, Path file) {
        Resize resize =
                new Resize(List.of(List.of(128, 96)), Resize.Mode.VALUE, true, List.of(), 1);
        return model.save(file, CLASSES, resize);
    }

    /** Returns an encoded image; its size and pattern depend on the number. */
    static byte[] image(String format, int number) {
        return TestImages.encode(format, 120 + 8 * number, 90, 3 + number);
    }
}
