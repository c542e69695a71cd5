package dev.saccade.datasets.convert.formats;

import static dev.saccade.datasets.convert.source.SourceFolder.baseName;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Multimaps;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.PixelEncoding;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Cityscapes and COCO-Stuff: PNGs named {@code *_labelTrainIds.png} with class indices from 0 and
 * 255 for no class, or {@code *_gtFine_labelIds.png} with the ids of Cityscapes.
 *
 * <p>Class names are read from {@code classes.txt}; the default is the 19 evaluated classes of
 * Cityscapes, or the 171 of COCO-Stuff if an image is in a folder such as {@code train2017}.
 */
final class CityscapesReader implements LabelReader {

    private static final String TRAIN_IDS = "_labeltrainids.png";
    private static final String IDS = "_gtfine_labelids.png";
    private static final int NO_CLASS = 255;
    private static final int MAX_IDS = 34;

    private static final List<String> CITYSCAPES =
            ResourceLines.read(CityscapesReader.class, "cityscapes.txt");

    private static final Pattern MAP_NAME =
            Pattern.compile("(_gt(Fine|Coarse))?_label(TrainIds|Ids)$");

    private static final Pattern NO_IMAGE =
            Pattern.compile(".*_(gtFine|gtCoarse)_.*|.*_label(TrainIds|Ids)");

    @Override
    public boolean detects(SourceFolder folder) {
        return !folder.ending(TRAIN_IDS).isEmpty() || !folder.ending(IDS).isEmpty();
    }

    @Override
    public SourceLabels read(ConversionContext context) {
        SourceFolder folder = context.folder();
        boolean hasTrainIds = !folder.ending(TRAIN_IDS).isEmpty();
        List<String> images =
                folder.images().stream()
                        .filter(image -> !NO_IMAGE.matcher(baseName(image)).matches())
                        .toList();
        ImmutableListMultimap<String, String> byName =
                Multimaps.index(images, i -> baseName(i).replaceFirst("_leftImg8bit$", ""));
        LabelMapPairs pairs = new LabelMapPairs(context);
        for (String map : folder.ending(hasTrainIds ? TRAIN_IDS : IDS)) {
            String name = MAP_NAME.matcher(baseName(map)).replaceFirst("");
            pairs.add(map, byName.get(name), Split.ofPath(map));
        }
        pairs.reportUnlabeled(images);
        List<String> classes = classes(context, images);
        return pairs.labels(classes, code(hasTrainIds, classes.size()));
    }

    private static List<String> classes(ConversionContext context, List<String> images) {
        Optional<List<String>> own = context.classNames("classes.txt", "labels.txt");
        if (own.isPresent()) {
            return own.get();
        }
        boolean isStuff = images.stream().anyMatch(image -> image.contains("2017/"));
        context.note(
                "no classes.txt was found; using the classes of "
                        + (isStuff ? "COCO-Stuff" : "Cityscapes"));
        return isStuff
                ? ResourceLines.read(CityscapesReader.class, "coco_stuff.txt")
                : CITYSCAPES.stream().map(line -> line.substring(line.indexOf(' ') + 1)).toList();
    }

    private static PixelEncoding code(boolean hasTrainIds, int classes) {
        Map<Integer, Integer> labels = new HashMap<>();
        for (int id = 0; id < MAX_IDS && !hasTrainIds; id++) {
            labels.put(id, LabelMap.IGNORE);
        }
        for (int label = 0; label < classes; label++) {
            boolean isOwn = hasTrainIds || label >= CITYSCAPES.size();
            int id = isOwn ? label : Integer.parseInt(CITYSCAPES.get(label).split(" ", 2)[0]);
            labels.put(id, label);
        }
        labels.put(NO_CLASS, LabelMap.IGNORE);
        return new PixelEncoding(/* areColors= */ false, labels);
    }
}
