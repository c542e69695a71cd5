package dev.saccade.datasets.convert;

import com.google.common.collect.ImmutableList;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.ResourceLines;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Trees of Cityscapes and COCO-Stuff: PNGs whose names end in {@code _labelTrainIds.png}, classes
 * counted from 0 and 255 for none, or in {@code _gtFine_labelIds.png}, whose numbers are those of
 * Cityscapes' own table.
 *
 * <p>The classes are those of {@code classes.txt}; else the 19 that Cityscapes measures, or the 171
 * of COCO-Stuff where photographs are in {@code train2017} and {@code val2017}.
 */
final class CityscapesReader implements LabelReader {

    private static final String TRAIN_IDS = "_labeltrainids.png";
    private static final String IDS = "_gtfine_labelids.png";
    private static final int NO_CLASS = 255;

    /** Number and name of a class a line. */
    private static final ImmutableList<String> CITYSCAPES =
            ResourceLines.read(CityscapesReader.class, "cityscapes.txt");

    private static final Pattern MAP_NAME =
            Pattern.compile("(_gt(Fine|Coarse))?_label(TrainIds|Ids)$");

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return !folder.ending(TRAIN_IDS).isEmpty() || !folder.ending(IDS).isEmpty();
    }

    @Override
    public ForeignLabels read(Reading reading) {
        SourceFolder folder = reading.folder();
        boolean hasTrainIds = !folder.ending(TRAIN_IDS).isEmpty();
        Map<String, List<String>> photographs = new HashMap<>();
        List<String> candidates = new ArrayList<>();
        for (String photo : folder.photographs()) {
            String stem = SourceFolder.stem(SourceFolder.fileName(photo));
            if (!stem.matches(".*_(gtFine|gtCoarse)_.*|.*_label(TrainIds|Ids)")) {
                photographs
                        .computeIfAbsent(
                                stem.replaceFirst("_leftImg8bit$", ""), s -> new ArrayList<>())
                        .add(photo);
                candidates.add(photo);
            }
        }
        MapPairs pairs = new MapPairs(reading);
        for (String map : folder.ending(hasTrainIds ? TRAIN_IDS : IDS)) {
            String stem = SourceFolder.stem(SourceFolder.fileName(map));
            Optional<Part> part = Part.ofPath(map);
            List<String> named =
                    photographs.getOrDefault(MAP_NAME.matcher(stem).replaceFirst(""), List.of());
            pairs.add(map, named, part);
        }
        pairs.tellUnlabeled(candidates);
        List<String> classes = classes(reading, candidates);
        return pairs.labels(classes, new PixelCode.Numbers(code(hasTrainIds, classes.size())));
    }

    private static List<String> classes(Reading reading, List<String> photographs) {
        SourceFolder folder = reading.folder();
        Optional<ImmutableList<String>> own =
                ClassNames.find(folder, reading::report, "classes.txt", "labels.txt");
        if (own.isPresent()) {
            return own.get();
        }
        boolean isStuff = photographs.stream().anyMatch(photo -> photo.contains("2017/"));
        reading.note(
                "there is no classes.txt, so the classes are those of "
                        + (isStuff ? "COCO-Stuff" : "Cityscapes"));
        return isStuff
                ? ResourceLines.read(CityscapesReader.class, "coco_stuff.txt")
                : CITYSCAPES.stream().map(line -> line.substring(line.indexOf(' ') + 1)).toList();
    }

    private static Map<Integer, Integer> code(boolean hasTrainIds, int classes) {
        Map<Integer, Integer> labels = new HashMap<>();
        if (!hasTrainIds) {
            for (int id = 0; id < 34; id++) {
                labels.put(id, LabelMap.IGNORE);
            }
        }
        for (int label = 0; label < classes; label++) {
            boolean isListed = label < CITYSCAPES.size();
            String line = isListed ? CITYSCAPES.get(label) : "";
            labels.put(
                    hasTrainIds || !isListed
                            ? label
                            : Integer.parseInt(line.substring(0, line.indexOf(' '))),
                    label);
        }
        labels.put(NO_CLASS, LabelMap.IGNORE);
        return labels;
    }
}
