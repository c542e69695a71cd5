package dev.saccade.train.extend;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.Printable;
import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.train.config.RunConfig;
import dev.saccade.train.data.DataReports;

import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Collections;
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
     * @param labeled classes with labeled objects in the training images
     * @param evaluated new classes, and old classes with labeled objects in the validation images
     * @param notes lines for the user
     */
    record Opened(
            CocoDataset train,
            CocoDataset val,
            List<String> classes,
            Set<String> labeled,
            Set<String> evaluated,
            List<String> notes) {}

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
        Set<String> labeled = labeled(images);
        Set<String> evaluated = labeled(validation);
        List<String> classes = new ArrayList<>(old);
        List<String> notes = new ArrayList<>(reports.warnings());
        for (String name : images.classes()) {
            if (old.contains(name)) {
                continue;
            }
            requireDifferent(name, classes);
            if (labeled.contains(name)) {
                classes.add(name);
                if (!evaluated.contains(name)) {
                    notes.add(
                            Printable.format(
                                    "class %s has no objects in the new validation images, so its"
                                            + " AP is unknown",
                                    name));
                }
            } else {
                notes.add(
                        Printable.format(
                                "class %s has no objects in the new training images; it was not"
                                        + " added",
                                name));
            }
        }
        List<String> added = classes.subList(old.size(), classes.size());
        if (added.isEmpty()) {
            throw SaccadeException.user(
                    "%s: has no objects of a new class; the run has %s; to train the same classes"
                            + " on more images, start a new run with init_from",
                    root, old);
        }
        if (Collections.disjoint(added, evaluated)) {
            throw SaccadeException.user(
                    "%s: the validation images have no objects of the new classes %s; move some"
                            + " labeled images from training to validation",
                    root, added);
        }
        evaluated.addAll(added);
        evaluated.retainAll(classes);
        return new Opened(
                images, validation, ImmutableList.copyOf(classes), labeled, evaluated, notes);
    }

    private void requireDifferent(String name, List<String> others) {
        for (String known : others) {
            if (simplified(known).equals(simplified(name))) {
                throw SaccadeException.user(
                        "%s: class \"%s\" differs from class \"%s\" only in case, spaces, hyphens,"
                                + " underscores, full-width letters or invisible characters;"
                                + " rename it in the annotations",
                        root, name, known);
            }
        }
    }

    private static String simplified(String name) {
        String composed = Normalizer.normalize(name, Normalizer.Form.NFKC);
        return composed.toLowerCase(Locale.ROOT).replaceAll("[\\p{Z}\\p{Cc}\\p{Cf}_-]+", "");
    }

    private static Set<String> labeled(Dataset dataset) {
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < dataset.size(); i++) {
            dataset.annotations(i).stream()
                    .filter(each -> each.label() >= 0 && !each.crowd())
                    .forEach(each -> names.add(dataset.classes().get(each.label())));
        }
        return names;
    }
}
