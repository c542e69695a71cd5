package dev.saccade.datasets.convert.formats;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;

import dev.saccade.core.SaccadeException;
import dev.saccade.datasets.Annotation;
import dev.saccade.datasets.Finding;
import dev.saccade.datasets.Split;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.coco.CocoFiles;
import dev.saccade.datasets.convert.ConversionContext;
import dev.saccade.datasets.convert.LabelBuilder;
import dev.saccade.datasets.convert.Outline;
import dev.saccade.datasets.convert.ParsedImage;
import dev.saccade.datasets.convert.ParsedObject;
import dev.saccade.datasets.convert.SourceLabels;
import dev.saccade.datasets.convert.source.SourceFolder;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads COCO's own format, to split one file or merge several. Keeps boxes, outlines, areas, crowds
 * and category ids; renumbers images and objects.
 */
final class CocoFileReader implements LabelReader {

    @Override
    public SourceLabels read(ConversionContext context) {
        Map<Path, String> files = new LinkedHashMap<>();
        for (String file : context.folder().ending(".json")) {
            files.put(context.folder().path(file), file);
        }
        Map<Long, String> categories = new LinkedHashMap<>();
        Map<String, String> sources = new HashMap<>();
        List<ParsedImage> images = new ArrayList<>();
        for (Path path : CocoFiles.ofObjects(List.copyOf(files.keySet()))) {
            try {
                Optional<CocoDataset> data = CocoDataset.read(path, context);
                if (data.isPresent()) {
                    addCategories(context, path, data.get(), categories);
                    addImages(context, files.get(path), data.get(), images, sources);
                }
            } catch (SaccadeException e) {
                context.accept(Finding.error(path.toString(), e));
            }
        }
        Optional<List<String>> classes = Optional.of(List.copyOf(categories.values()));
        return LabelBuilder.build(context, classes, images, sources)
                .withCategoryIds(List.copyOf(categories.keySet()));
    }

    private static void addCategories(
            ConversionContext context, Path file, CocoDataset data, Map<Long, String> categories) {
        for (int label = 0; label < data.classes().size(); label++) {
            long id = data.categoryId(label);
            String name = data.classes().get(label);
            boolean isNew = !categories.containsKey(id);
            if (isNew ? categories.containsValue(name) : !categories.get(id).equals(name)) {
                context.error(
                        file.toString(),
                        "category %d is \"%s\", unlike in earlier files; expected the same ids and"
                                + " names in all files",
                        id,
                        name);
            }
            categories.putIfAbsent(id, name);
        }
    }

    private static void addImages(
            ConversionContext context,
            String file,
            CocoDataset data,
            List<ParsedImage> images,
            Map<String, String> sources) {
        Optional<Split> split = split(file);
        CocoImages names = CocoImages.find(context.folder(), file, data.fileNames());
        for (int i = 0; i < data.size(); i++) {
            String place = context.place(file) + ": image " + data.imageId(i);
            String name = data.fileNames().get(i);
            Optional<String> found = names.of(name);
            ParsedImage parsed = new ParsedImage(place);
            parsed.setImage(found, name + " in " + context.place(names.base()));
            parsed.setSplit(split.or(() -> found.flatMap(Split::ofPath)));
            parsed.declare(data.imageSize(i).width(), data.imageSize(i).height());
            String source = data.source(i);
            found.ifPresent(image -> sources.put(image, source));
            for (Annotation object : data.annotations(i)) {
                String category = data.classes().get(object.label());
                parsed.objects()
                        .add(new ParsedObject(place, category, new Outline.Labeled(object)));
            }
            images.add(parsed);
        }
    }

    private static Optional<Split> split(String file) {
        return Split.ofPath(file)
                .or(
                        () ->
                                Splitter.on(CharMatcher.anyOf("_-."))
                                        .splitToStream(SourceFolder.baseName(file))
                                        .flatMap(word -> Split.named(word).stream())
                                        .findFirst());
    }
}
