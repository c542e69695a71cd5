package dev.saccade.examples;

import ai.djl.MalformedModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Detects objects with a TorchScript export, without Saccade. Needs DJL's PyTorch engine and
 * Jackson. Usage:
 *
 * <pre>DjlObjects FOLDER-OF-EXPORT IMAGE MIN-SCORE</pre>
 */
public final class DjlObjects {

    private DjlObjects() {}

    /** Prints a line per object, highest score first: label, score and box. */
    public static void main(String[] args)
            throws IOException,
                    ModelNotFoundException,
                    MalformedModelException,
                    TranslateException {
        if (args.length != 3) {
            System.err.println("expected: FOLDER-OF-EXPORT IMAGE MIN-SCORE");
            return;
        }
        ExportedDetector detector = new ExportedDetector(Path.of(args[0]), "torchscript");
        PreprocessedImage image = detector.prepare(Path.of(args[1]));
        find(detector, image, Double.parseDouble(args[2])).forEach(System.out::println);
    }

    private static List<String> find(
            ExportedDetector detector, PreprocessedImage image, double minScore)
            throws IOException,
                    ModelNotFoundException,
                    MalformedModelException,
                    TranslateException {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("PyTorch")
                        .optModelPath(detector.file("model.pt"))
                        .optTranslator(new NoopTranslator())
                        .build();
        // A server keeps the model open and has one predictor per thread.
        try (ZooModel<NDList, NDList> model = criteria.loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList given =
                    new NDList(
                            manager.create(
                                    image.images(), new Shape(image.shape()), DataType.FLOAT32),
                            manager.create(image.sizes(), new Shape(1, 2), DataType.FLOAT32));
            NDList found = predictor.predict(given);
            found.attach(manager);
            // Outputs in the order of model.json: boxes, labels, scores, counts.
            return detector.lines(
                    image,
                    found.get(0).toFloatArray(),
                    found.get(1).toLongArray(),
                    found.get(2).toFloatArray(),
                    found.get(3).getLong(0),
                    minScore);
        }
    }
}
