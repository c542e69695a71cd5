package dev.saccade.export;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;

import dev.saccade.core.SaccadeException;

import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An ONNX model, run by ONNX Runtime. */
final class OnnxProgram implements ExportedProgram {

    private final Path file;
    private final OrtEnvironment environment =
            OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR);
    private final OrtSession session;

    OnnxProgram(Path file) {
        this.file = file;
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            session = environment.createSession(file.toString(), options);
        } catch (OrtException e) {
            throw SaccadeException.io(e, "%s: cannot be loaded: %s", file, e.getMessage());
        }
    }

    @Override
    public String runtime() {
        return "ONNX Runtime " + environment.getVersion();
    }

    @Override
    public NDList run(NDList inputs) {
        Map<String, OnnxTensor> given = new LinkedHashMap<>();
        try {
            List<String> names = List.copyOf(session.getInputNames());
            for (int i = 0; i < inputs.size(); i++) {
                given.put(names.get(i), tensor(inputs.get(i)));
            }
            NDList outputs = new NDList();
            try (OrtSession.Result result = session.run(given)) {
                for (Map.Entry<String, OnnxValue> output : result) {
                    outputs.add(array(output.getValue(), inputs.get(0).getManager()));
                }
            }
            return outputs;
        } catch (OrtException e) {
            throw SaccadeException.internal(e, "%s: failed: %s", file, e.getMessage());
        } finally {
            given.values().forEach(OnnxTensor::close);
        }
    }

    private OnnxTensor tensor(NDArray array) throws OrtException {
        FloatBuffer values = FloatBuffer.wrap(array.toFloatArray());
        return OnnxTensor.createTensor(environment, values, array.getShape().getShape());
    }

    private static NDArray array(OnnxValue value, NDManager manager) {
        OnnxTensor tensor = (OnnxTensor) value;
        Shape shape = new Shape(tensor.getInfo().getShape());
        return tensor.getInfo().type == OnnxJavaType.INT64
                ? manager.create(tensor.getLongBuffer(), shape, DataType.INT64)
                : manager.create(tensor.getFloatBuffer(), shape);
    }

    @Override
    public void close() {
        try {
            session.close();
        } catch (OrtException e) {
            throw SaccadeException.internal(e, "ONNX Runtime cannot be closed");
        }
    }
}
