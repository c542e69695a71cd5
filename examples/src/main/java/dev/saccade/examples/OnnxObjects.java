package dev.saccade.examples;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Detects objects with an ONNX export, without Saccade. Needs ONNX Runtime and Jackson. Usage:
 *
 * <pre>OnnxObjects FOLDER-OF-EXPORT IMAGE MIN-SCORE</pre>
 */
public final class OnnxObjects {

    private OnnxObjects() {}

    /** Prints a line per object, highest score first: label, score and box. */
    public static void main(String[] args) throws IOException, OrtException {
        if (args.length != 3) {
            System.err.println("expected: FOLDER-OF-EXPORT IMAGE MIN-SCORE");
            return;
        }
        ExportedDetector detector = new ExportedDetector(Path.of(args[0]), "onnx");
        PreprocessedImage image = detector.prepare(Path.of(args[1]));
        find(detector, image, Double.parseDouble(args[2])).forEach(System.out::println);
    }

    private static List<String> find(
            ExportedDetector detector, PreprocessedImage image, double minScore)
            throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        // A server keeps one session open; sessions are thread-safe.
        try (OrtSession session =
                        environment.createSession(detector.file("model.onnx").toString());
                OnnxTensor images =
                        OnnxTensor.createTensor(environment, image.images(), image.shape());
                OnnxTensor sizes =
                        OnnxTensor.createTensor(environment, image.sizes(), new long[] {1, 2});
                OrtSession.Result found = session.run(Map.of("images", images, "sizes", sizes))) {
            return detector.lines(
                    image,
                    output(found, "boxes").getFloatBuffer().array(),
                    output(found, "labels").getLongBuffer().array(),
                    output(found, "scores").getFloatBuffer().array(),
                    output(found, "counts").getLongBuffer().get(0),
                    minScore);
        }
    }

    private static OnnxTensor output(OrtSession.Result found, String name) {
        return (OnnxTensor) found.get(name).orElseThrow();
    }
}
