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
 * Prints the objects on a photograph with a model that was exported as ONNX. It needs ONNX Runtime
 * and Jackson, and nothing of Saccade:
 *
 * <pre>OnnxObjects FOLDER-OF-EXPORT PHOTO LEAST-SCORE</pre>
 */
public final class OnnxObjects {

    private OnnxObjects() {}

    /** Prints a line an object, best first: its name, score and box. */
    public static void main(String[] args) throws IOException, OrtException {
        if (args.length != 3) {
            System.err.println("expected: FOLDER-OF-EXPORT PHOTO LEAST-SCORE");
            return;
        }
        ExportedDetector detector = new ExportedDetector(Path.of(args[0]), "onnx");
        PreparedPhoto photo = detector.prepare(Path.of(args[1]));
        find(detector, photo, Double.parseDouble(args[2])).forEach(System.out::println);
    }

    private static List<String> find(
            ExportedDetector detector, PreparedPhoto photo, double leastScore) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        // A server keeps the session; threads may share it.
        try (OrtSession session =
                        environment.createSession(detector.file("model.onnx").toString());
                OnnxTensor images =
                        OnnxTensor.createTensor(environment, photo.images(), photo.shape());
                OnnxTensor sizes =
                        OnnxTensor.createTensor(environment, photo.sizes(), new long[] {1, 2});
                OrtSession.Result found = session.run(Map.of("images", images, "sizes", sizes))) {
            return detector.lines(
                    photo,
                    output(found, "boxes").getFloatBuffer().array(),
                    output(found, "labels").getLongBuffer().array(),
                    output(found, "scores").getFloatBuffer().array(),
                    output(found, "counts").getLongBuffer().get(0),
                    leastScore);
        }
    }

    private static OnnxTensor output(OrtSession.Result found, String name) {
        return (OnnxTensor) found.get(name).orElseThrow();
    }
}
