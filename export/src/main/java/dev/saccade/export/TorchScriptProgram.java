package dev.saccade.export;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;

import dev.saccade.core.Libtorch;
import dev.saccade.core.SaccadeException;

import java.io.IOException;
import java.nio.file.Path;

/** A TorchScript module, run by libtorch. */
final class TorchScriptProgram implements ExportedProgram {

    private final Path file;
    private final Model model;
    private final Predictor<NDList, NDList> predictor;

    TorchScriptProgram(Path file) {
        this.file = file;
        Path whole = file.toAbsolutePath();
        String name = whole.getFileName().toString().replaceAll("\\.pt$", "");
        model = Model.newInstance(name, Device.cpu(), Libtorch.engine().getEngineName());
        try {
            model.load(whole.getParent(), name);
        } catch (IOException | MalformedModelException e) {
            model.close();
            throw SaccadeException.io(e, "%s: cannot be loaded: %s", file, e.getMessage());
        }
        predictor = model.newPredictor(new NoopTranslator());
    }

    @Override
    public String runtime() {
        return "libtorch " + Libtorch.engine().getVersion();
    }

    @Override
    public NDList run(NDList inputs) {
        try {
            NDList outputs = predictor.predict(inputs);
            outputs.attach(inputs.get(0).getManager());
            return outputs;
        } catch (TranslateException e) {
            throw SaccadeException.internal(e, "%s: failed: %s", file, e.getMessage());
        }
    }

    @Override
    public void close() {
        predictor.close();
        model.close();
    }
}
