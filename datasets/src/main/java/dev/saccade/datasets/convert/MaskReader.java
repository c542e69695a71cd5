package dev.saccade.datasets.convert;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.core.SaccadeException;
import dev.saccade.core.Text;
import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.labels.ClassName;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * PNGs beside photographs, in folders such as VOC's {@code SegmentationClass}, {@code masks} or
 * {@code train_labels}, whose pixels are classes: colors where a table of them is there, CVAT's
 * {@code labelmap.txt} or CamVid's {@code class_dict.csv}; else numbers that count from 0, of the
 * names in {@code classes.txt} or of VOC's 21 classes.
 *
 * <p>The background is a class, as in VOC's own measure. What a table calls void, unlabeled or
 * ignored is none, nor is 255 or VOC's color of edges.
 */
final class MaskReader implements LabelReader {

    private static final Pattern FOLDER =
            Pattern.compile("segmentationclass|masks?|.*[_-](labels|masks?)");

    private static final Pattern MAP_NAME = Pattern.compile("[_-](L|labels?|masks?|gt)$");
    private static final Pattern NO_CLASS =
            Pattern.compile("void|unlabell?ed|ignored?", Pattern.CASE_INSENSITIVE);

    private static final String SETS = "ImageSets/Segmentation/";
    private static final int VOC_EDGE = 0xE0E0C0;
    private static final int NONE = 255;

    @Override
    public boolean knows(SourceFolder folder, Samples samples) {
        return hasMaps(folder)
                && folder.first(
                                "labelmap.txt",
                                "class_dict.csv",
                                "SegmentationClass",
                                "classes.txt")
                        .isPresent();
    }

    private static boolean hasMaps(SourceFolder folder) {
        return folder.ending(".png").stream().anyMatch(MaskReader::isMap);
    }

    private static boolean isMap(String file) {
        if (!file.endsWith(".png")) {
            return false;
        }
        for (String name : Splitter.on('/').split(SourceFolder.parent(file))) {
            if (FOLDER.matcher(name.toLowerCase(Locale.ROOT)).matches()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public ForeignLabels read(Reading reading) {
        SourceFolder folder = reading.folder();
        Map<String, List<String>> photographs = new HashMap<>();
        List<String> candidates =
                folder.photographs().stream()
                        .filter(photo -> !isMap(photo) && !photo.startsWith("SegmentationObject/"))
                        .toList();
        for (String photo : candidates) {
            String stem = SourceFolder.stem(SourceFolder.fileName(photo));
            photographs.computeIfAbsent(stem, s -> new ArrayList<>()).add(photo);
        }
        List<String> maps = folder.files().stream().filter(MaskReader::isMap).toList();
        ImmutableMap<String, Optional<Part>> parts = parts(reading, maps);
        MapPairs pairs = new MapPairs(reading);
        for (Map.Entry<String, Optional<Part>> entry : parts.entrySet()) {
            pairs.add(entry.getKey(), named(entry.getKey(), photographs), entry.getValue());
        }
        if (maps.size() == parts.size()) {
            pairs.tellUnlabeled(candidates);
        }
        return labels(reading, pairs);
    }

    /** Returns the images that a label map may be of by its name. */
    private static List<String> named(String map, Map<String, List<String>> photographs) {
        String stem = SourceFolder.stem(SourceFolder.fileName(map));
        String bare = MAP_NAME.matcher(stem).replaceFirst("");
        return Optional.ofNullable(photographs.get(stem))
                .orElseGet(() -> photographs.getOrDefault(bare, List.of()));
    }

    /** Returns what the lists of parts name, if there are any; else all, by their folders. */
    private static ImmutableMap<String, Optional<Part>> parts(Reading reading, List<String> maps) {
        SourceFolder folder = reading.folder();
        Map<String, String> byId = new LinkedHashMap<>();
        maps.forEach(map -> byId.put(SourceFolder.stem(SourceFolder.fileName(map)), map));
        Listing listing = new Listing();
        for (String list : folder.files()) {
            Optional<Part> part = Part.named(SourceFolder.stem(SourceFolder.fileName(list)));
            if (list.startsWith(SETS) && list.endsWith(".txt") && part.isPresent()) {
                listing.read(reading, list, part, byId, ".png");
            }
        }
        listing.tellRepeated(reading);
        if (listing.parts().isEmpty()) {
            maps.forEach(map -> listing.add(map, Part.ofPath(map), ""));
        } else if (listing.parts().size() < maps.size()) {
            reading.warning(
                    folder.toString(),
                    Text.format(
                            "%d of %d label maps are in no list of %s, they are left out",
                            maps.size() - listing.parts().size(), maps.size(), SETS));
        }
        return listing.parts();
    }

    private static ForeignLabels labels(Reading reading, MapPairs pairs) {
        SourceFolder folder = reading.folder();
        Optional<String> table = folder.first("labelmap.txt", "class_dict.csv");
        if (table.isPresent()) {
            Map<Integer, Integer> colors = new LinkedHashMap<>(Map.of(VOC_EDGE, LabelMap.IGNORE));
            List<String> classes = readTable(reading, table.get(), colors);
            return pairs.labels(classes, new PixelCode.Colors(colors));
        }
        Optional<ImmutableList<String>> own =
                ClassNames.find(folder, reading::report, "classes.txt", "labels.txt");
        if (own.isEmpty()) {
            reading.note("there is no classes.txt, so the classes are those of VOC");
        }
        List<String> classes = own.orElseGet(() -> ResourceLines.read(MaskReader.class, "voc.txt"));
        Map<Integer, Integer> numbers = new HashMap<>(Map.of(NONE, LabelMap.IGNORE));
        for (int label = 0; label < classes.size(); label++) {
            numbers.put(label, label);
        }
        return pairs.labels(classes, new PixelCode.Numbers(numbers));
    }

    /** Reads {@code name:r,g,b::} or {@code name,r,g,b} a line. */
    private static List<String> readTable(
            Reading reading, String file, Map<Integer, Integer> colors) {
        List<String> classes = new ArrayList<>();
        try {
            List<String> lines = TextFile.lines(reading.folder().path(file));
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i).strip();
                boolean isHeader = line.startsWith("#") || (i == 0 && line.startsWith("name,"));
                if (!line.isEmpty() && !isHeader) {
                    readRow(reading, reading.place(file) + ":" + (i + 1), line, classes, colors);
                }
            }
        } catch (SaccadeException e) {
            reading.report(Finding.error(reading.place(file), e));
        }
        ClassNames.requireDistinct(reading.place(file), classes, reading::report);
        return classes;
    }

    private static void readRow(
            Reading reading,
            String place,
            String line,
            List<String> classes,
            Map<Integer, Integer> colors) {
        List<String> words = Splitter.on(CharMatcher.anyOf(":,")).splitToList(line);
        boolean isRow = words.size() >= 4;
        int color = 0;
        for (int i = 1; isRow && i < 4; i++) {
            String number = words.get(i).strip();
            isRow = number.matches("\\d{1,3}") && Integer.parseInt(number) <= 255;
            color = isRow ? (color << 8) | Integer.parseInt(number) : 0;
        }
        if (!isRow) {
            reading.error(
                    place, Text.format("got \"%s\", expected a name and a color r,g,b", line));
            return;
        }
        String name = ClassName.of(words.get(0));
        boolean isClass = !NO_CLASS.matcher(name).matches();
        if (colors.putIfAbsent(color, isClass ? classes.size() : LabelMap.IGNORE) != null) {
            reading.error(place, Text.format("the color of \"%s\" stands above", name));
        } else if (isClass) {
            classes.add(name);
        }
    }
}
