package dev.saccade.serve;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.PredictionJson;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Format of masks in responses, as {@code segmentation} of COCO. */
enum Masks {
    /** {@code size} and {@code counts}, COCO's compressed run lengths. */
    RLE,

    /** Lists of {@code x0, y0, x1, y1, ...} along pixel edges, including the edges of holes. */
    POLYGON,

    /** No masks. */
    FALSE;

    Optional<Object> segmentation(Rle mask) {
        return switch (this) {
            case RLE -> PredictionJson.rle(mask);
            case POLYGON ->
                    Optional.of(Contours.trace(mask).stream().map(line -> line.toArray()).toList());
            case FALSE -> Optional.empty();
        };
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Masks> of(String word) {
        return Stream.of(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    static String words() {
        return Stream.of(values()).map(Masks::word).collect(Collectors.joining(", "));
    }
}
