package dev.saccade.train.extend;

import dev.saccade.core.OutputFolder;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.ImageFile;
import dev.saccade.datasets.convert.Conversion;
import dev.saccade.datasets.convert.LabeledImage;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.train.extend.ExtensionReport.Additions;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** Labeled images in which objects of unlabeled classes were predicted. */
record CompletedImages(List<String> classes, List<LabeledImage> images, Additions additions) {

    /**
     * Completes the labels of a data set with predictions. Leaves out images without annotations,
     * which are not trained on, and images with ignored regions but without objects, because
     * assigners without objects treat ignored regions as background.
     *
     * @param names file names of the images in the annotation file
     * @param predicted class names of the predictions
     */
    static CompletedImages of(
            Dataset dataset,
            List<String> names,
            LabelCompletion completion,
            Predictions predictions,
            List<String> predicted) {
        List<LabeledImage> images = new ArrayList<>();
        int objects = 0;
        int ignored = 0;
        int dropped = 0;
        for (int i = 0; i < dataset.size(); i++) {
            List<Annotation> labeled = relabeled(dataset, i, completion.classes());
            LabelCompletion.Completed completed =
                    completion.complete(labeled, predictions.get(i), predicted);
            if (labeled.isEmpty() || (completed.ignored() > 0 && !completed.hasObjects())) {
                dropped++;
                continue;
            }
            objects += completed.objects();
            ignored += completed.ignored();
            images.add(labeled(dataset.image(i), names.get(i), completed.annotations()));
        }
        return new CompletedImages(
                completion.classes(),
                images,
                new Additions(images.size(), objects, ignored, dropped));
    }

    /** Returns images whose labels are complete. */
    static CompletedImages complete(Dataset dataset, List<String> names, List<String> classes) {
        List<LabeledImage> images = new ArrayList<>();
        for (int i = 0; i < dataset.size(); i++) {
            images.add(labeled(dataset.image(i), names.get(i), relabeled(dataset, i, classes)));
        }
        return new CompletedImages(classes, images, new Additions(images.size(), 0, 0, 0));
    }

    /** Returns the annotations of an image with labels of {@code classes}. */
    private static List<Annotation> relabeled(Dataset dataset, int index, List<String> classes) {
        return dataset.annotations(index).stream()
                .filter(each -> each.label() >= 0)
                .map(each -> each.with(0, classes.indexOf(dataset.classes().get(each.label()))))
                .filter(each -> each.label() >= 0)
                .toList();
    }

    private static LabeledImage labeled(
            ImageFile image, String name, List<Annotation> annotations) {
        return new LabeledImage(
                name,
                image.file(),
                false,
                Optional.empty(),
                image.size(),
                annotations,
                Optional.empty(),
                List.of(),
                "");
    }

    /** Writes a COCO annotation file. */
    void write(OutputFolder folder, String file) {
        SourceLabels labels =
                new SourceLabels(
                        classes,
                        LongStream.rangeClosed(1, classes.size()).boxed().toList(),
                        images,
                        Optional.empty(),
                        /* imageClasses= */ false,
                        List.of(),
                        List.of());
        Conversion.writeCoco(labels, folder, file);
    }
}
