package dev.saccade.parity;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;

import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;

import java.util.Set;
import java.util.TreeSet;

/** The recorded parameters and running statistics, as a module tree by dotted name. */
final class RecordedParameters extends Module {

    private static final String START = "init:";

    private RecordedParameters(Case recorded, String prefix) {
        Set<String> children = new TreeSet<>();
        for (String name : recorded.names(prefix)) {
            String rest = name.substring(prefix.length());
            int dot = rest.indexOf('.');
            if (dot >= 0) {
                children.add(rest.substring(0, dot));
            } else if (!isCounter(rest)) {
                Shape shape = new Shape(recorded.array(name).shape());
                if (rest.startsWith("running_")) {
                    buffer(rest, shape, WeightInit.ZEROS);
                } else {
                    parameter(rest, shape, WeightInit.ZEROS);
                }
            }
        }
        children.forEach(name -> add(name, new RecordedParameters(recorded, prefix + name + ".")));
    }

    /** Returns the recorded initial values. */
    static RecordedParameters of(Case recorded) {
        RecordedParameters parameters = new RecordedParameters(recorded, START);
        parameters.initialize(recorded.manager(), 0);
        parameters.set(recorded, START);
        return parameters;
    }

    /** Loads the values recorded under a prefix. */
    void set(Case recorded, String prefix) {
        namedParameters()
                .forEach(
                        (name, parameter) ->
                                recorded.tensor(prefix + name).copyTo(parameter.getArray()));
    }

    /** Returns whether a name is PyTorch's batch counter, which Saccade lacks. */
    static boolean isCounter(String name) {
        return name.endsWith("num_batches_tracked");
    }

    @Override
    public NDList call(NDList inputs) {
        throw new UnsupportedOperationException("has parameters only");
    }
}
