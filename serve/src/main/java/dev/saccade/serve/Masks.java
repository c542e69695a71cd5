package dev.saccade.serve;

import dev.saccade.core.structures.Contours;
import dev.saccade.core.structures.Rle;
import dev.saccade.models.PredictionJson;

import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How an answer tells which pixels are of an object or a class: {@code segmentation} of COCO. */
enum Masks {
    /** {@code size} and {@code counts}, COCO's compressed run lengths. */
    RLE {
        @Override
        Optional<Object> segmentation(Rle mask) {
            return PredictionJson.rle(mask);
        }
    },

    /** Lists of {@code x0, y0, x1, y1, ...} along the edges of pixels; also those of holes. */
    POLYGON {
        @Override
        Optional<Object> segmentation(Rle mask) {
            return Optional.of(Contours.trace(mask).stream().map(line -> line.toArray()).toList());
        }
    },

    /** Not at all. */
    FALSE {
        @Override
        Optional<Object> segmentation(Rle mask) {
            return Optional.empty();
        }
    };

    abstract Optional<Object> segmentation(Rle mask);

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
