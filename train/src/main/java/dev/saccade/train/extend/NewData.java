package dev.saccade.train.extend;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Images with labels of new classes.
 *
 * @param root folder of the paths
 */
public record NewData(Path root, CocoDataset.Config train, CocoDataset.Config val) {

    /**
     * Opened data.
     *
     * @param classes classes of the extended model: old classes, then new classes
     * @param labeled classes with labeled objects
     * @param notes lines for the user
     */
    record Opened(
            CocoDataset train,
            CocoDataset val,
            List<String> classes,
            Set<String> labeled,
            List<String> notes) {

        List<String> newClasses(List<String> old) {
            return classes.subList(old.size(), classes.size());
        }
    }

    /** Checks and opens the data. Rejects data without new classes or with ambiguous names. */
    Opened open(RunConfig config, List<String> old) {
        Map<String, Dataset.Config> parts = new LinkedHashMap<>();
        parts.put("train", train);
        parts.put("val", val);
        DataReports reports =
                DataReports.check(parts, root, DataReports.options(config, false, () -> {}));
        reports.requireNoErrors("the new data has errors; training did not start");
        CocoDataset images = train.open(root);
        CocoDataset validation = val.open(root);
        Set<Integer> labels = new TreeSet<>();
        addLabels(images, labels);
        Set<Integer> evaluated = new TreeSet<>();
        addLabels(validation, evaluated);
        List<String> classes = new ArrayList<>(old);
        List<String> notes = new ArrayList<>(reports.warnings());
        boolean isEvaluated = false;
        for (int label = 0; label < images.classes().size(); label++) {
            String name = images.classes().get(label);
            if (old.contains(name)) {
                continue;
            }
            requireNew(name, old);
            if (labels.contains(label)) {
                classes.add(name);
                isEvaluated |= evaluated.contains(label);
                if (!evaluated.contains(label)) {
                    notes.add(
                            Text.format(
                                    "class %s has no objects in the new validation images, so its"
                                            + " AP is unknown",
                                    name));
                }
            } else {
                notes.add(
                        Text.format(
                                "class %s has no objects in the new training images; it was not"
                                        + " added",
                                name));
            }
        }
        if (classes.size() == old.size()) {
            throw SaccadeException.user(
                    "%s: has no objects of a new class; the run has %s; to train the same classes"
                            + " on more images, start a new run with init_from",
                    root, old);
        }
        if (!isEvaluated) {
            throw SaccadeException.user(
                    "%s: the validation images have no objects of the new classes %s; move some"
                            + " labeled images from training to validation",
                    root, classes.subList(old.size(), classes.size()));
        }
        Set<Integer> all = new TreeSet<>(labels);
        all.addAll(evaluated);
        Set<String> labeled = new TreeSet<>();
        all.forEach(label -> labeled.add(images.classes().get(label)));
        labeled.retainAll(classes);
        return new Opened(images, validation, ImmutableList.copyOf(classes), labeled, notes);
    }

    private void requireNew(String name, List<String> old) {
        for (String known : old) {
            if (simplified(known).equals(simplified(name))) {
                throw SaccadeException.user(
                        "%s: class \"%s\" differs from class \"%s\" of the run only in case,"
                                + " spaces, hyphens, underscores or full-width letters; rename it"
                                + " in the annotations",
                        root, name, known);
            }
        }
    }

    private static String simplified(String name) {
        String composed = Normalizer.normalize(name, Normalizer.Form.NFKC);
        return composed.toLowerCase(Locale.ROOT).replaceAll("[\\s_-]+", "");
    }

    private static void addLabels(Dataset dataset, Set<Integer> labels) {
        for (int i = 0; i < dataset.size(); i++) {
            dataset.annotations(i).stream()
                    .filter(each -> each.label() >= 0 && !each.crowd())
                    .map(Annotation::label)
                    .forEach(labels::add);
        }
    }
}
