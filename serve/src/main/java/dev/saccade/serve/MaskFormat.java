package dev.saccade.serve;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.PredictionJson;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Format of {@code segmentation} in responses. */
enum MaskFormat {
    /** COCO's compressed RLE: {@code size} and {@code counts}. */
    RLE,

    /** Lists of {@code x0, y0, x1, y1, ...} along pixel edges, holes included. */
    POLYGON,

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

    static Optional<MaskFormat> of(String word) {
        return Stream.of(values()).filter(each -> each.word().equals(word)).findFirst();
    }

    static String words() {
        return Stream.of(values()).map(MaskFormat::word).collect(Collectors.joining(", "));
    }
}
