package dev.saccade.datasets.convert.formats;

import static dev.saccade.datasets.convert.source.SourceFolder.baseName;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.primitives.Ints;

import dev.saccade.core.structures.LabelMap;
import dev.saccade.datasets.ClassName;
import dev.saccade.datasets.ResourceLines;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.PixelEncoding;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;
import dev.saccade.datasets.convert.source.TextFile;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Label maps as PNGs beside images, in folders such as VOC's {@code SegmentationClass}, {@code
 * masks} or {@code train_labels}. Pixels are colors if there is a color table, CVAT's {@code
 * labelmap.txt} or CamVid's {@code class_dict.csv}; otherwise class indices from 0, with the names
 * in {@code classes.txt} or VOC's 21 classes.
 *
 * <p>The background is a class, as in VOC's own evaluation. Colors named void, unlabeled or ignored
 * mean no class, as do 255 and VOC's color of edges.
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
    public boolean detects(SourceFolder folder) {
        return folder.files().stream().anyMatch(MaskReader::isMap)
                && folder.first(
                                "labelmap.txt",
                                "class_dict.csv",
                                "SegmentationClass",
                                "classes.txt")
                        .isPresent();
    }

    private static boolean isMap(String file) {
        String folders = SourceFolder.parent(file).toLowerCase(Locale.ROOT);
        return file.endsWith(".png")
                && Splitter.on('/').splitToStream(folders).anyMatch(FOLDER.asMatchPredicate());
    }

    @Override
    public SourceLabels read(ConversionContext context) {
        SourceFolder folder = context.folder();
        List<String> images =
                folder.images().stream()
                        .filter(image -> !isMap(image) && !image.startsWith("SegmentationObject/"))
                        .toList();
        ImmutableListMultimap<String, String> byName =
                Multimaps.index(images, SourceFolder::baseName);
        List<String> maps = folder.files().stream().filter(MaskReader::isMap).toList();
        Map<String, Optional<Split>> splits =
                SplitLists.ofVoc(context, SETS, maps, ".png", "label maps", Split::ofPath);
        LabelMapPairs pairs = new LabelMapPairs(context);
        splits.forEach(
                (map, split) -> {
                    String name = baseName(map);
                    String bare = MAP_NAME.matcher(name).replaceFirst("");
                    pairs.add(map, byName.get(byName.containsKey(name) ? name : bare), split);
                });
        if (maps.size() == splits.size()) {
            pairs.reportUnlabeled(images);
        }
        return labels(context, pairs);
    }

    private static SourceLabels labels(ConversionContext context, LabelMapPairs pairs) {
        Optional<String> table = context.folder().first("labelmap.txt", "class_dict.csv");
        if (table.isPresent()) {
            Map<Integer, Integer> colors = new HashMap<>(Map.of(VOC_EDGE, LabelMap.IGNORE));
            List<String> classes = readTable(context, table.get(), colors);
            return pairs.labels(classes, new PixelEncoding(/* areColors= */ true, colors));
        }
        Optional<List<String>> own = context.classNames("classes.txt", "labels.txt");
        if (own.isEmpty()) {
            context.note("no classes.txt was found; using the classes of VOC");
        }
        List<String> classes = own.orElseGet(() -> ResourceLines.read(MaskReader.class, "voc.txt"));
        Map<Integer, Integer> indices = new HashMap<>(Map.of(NONE, LabelMap.IGNORE));
        for (int label = 0; label < classes.size(); label++) {
            indices.put(label, label);
        }
        return pairs.labels(classes, new PixelEncoding(/* areColors= */ false, indices));
    }

    /** Returns classes from {@code name:r,g,b::} or {@code name,r,g,b}; fills {@code colors}. */
    private static List<String> readTable(
            ConversionContext context, String file, Map<Integer, Integer> colors) {
        List<String> classes = new ArrayList<>();
        for (TextFile.Line line : context.lines(file)) {
            boolean isHeader = line.text().startsWith("name,") && line.place().endsWith(":1");
            if (isHeader || line.text().startsWith("#")) {
                continue;
            }
            List<String> words = Splitter.on(CharMatcher.anyOf(":,")).splitToList(line.text());
            Optional<Integer> color = color(words);
            String name = ClassName.of(words.get(0));
            boolean isClass = !NO_CLASS.matcher(name).matches();
            int label = isClass ? classes.size() : LabelMap.IGNORE;
            if (color.isEmpty()) {
                context.error(
                        line.place(), "got \"%s\", expected a name and a color r,g,b", line.text());
            } else if (colors.putIfAbsent(color.get(), label) != null) {
                context.error(line.place(), "the color of \"%s\" occurs in an earlier line", name);
            } else if (isClass) {
                classes.add(name);
            }
        }
        context.requireDistinct(context.place(file), classes);
        return classes;
    }

    private static Optional<Integer> color(List<String> words) {
        int color = 0;
        for (int i = 1; i < 4; i++) {
            Integer part = i < words.size() ? Ints.tryParse(words.get(i).strip()) : null;
            if (part == null || part < 0 || part > 255) {
                return Optional.empty();
            }
            color = (color << 8) | part;
        }
        return Optional.of(color);
    }
}
