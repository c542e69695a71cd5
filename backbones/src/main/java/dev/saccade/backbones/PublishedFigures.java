package dev.saccade.backbones;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Resources;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What was published of a backbone as a classifier of ImageNet-1K: a line of {@code published.csv},
 * with the decimals of the source.
 *
 * @param parameters millions
 * @param multiplyAdds billions, for one square image of {@code imageSize}
 * @param imageSize side of that image; 224 unless the line states another
 * @param top1 accuracy in percent
 * @param source the paper or repository
 * @param remark why the figures of this implementation differ; empty where they do not
 */
public record PublishedFigures(
        Optional<BigDecimal> parameters,
        Optional<BigDecimal> multiplyAdds,
        int imageSize,
        Optional<BigDecimal> top1,
        String source,
        String remark) {

    /** Side of the images that papers count multiply-adds with. */
    public static final int USUAL_SIZE = 224;

    private static final ImmutableMap<String, PublishedFigures> ALL = read("published.csv");

    /** Returns the figures of a backbone, if any were published. */
    public static Optional<PublishedFigures> of(String name) {
        return Optional.ofNullable(ALL.get(name));
    }

    /** Returns the names of all backbones that figures were published of. */
    static Set<String> names() {
        return ALL.keySet();
    }

    private static ImmutableMap<String, PublishedFigures> read(String resource) {
        try {
            List<String> lines =
                    Resources.readLines(
                            Resources.getResource(PublishedFigures.class, resource),
                            StandardCharsets.UTF_8);
            return lines.stream()
                    .skip(1)
                    .map(line -> line.split(",", 7))
                    .collect(
                            ImmutableMap.toImmutableMap(
                                    cells -> cells[0], PublishedFigures::parse));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PublishedFigures parse(String[] cells) {
        return new PublishedFigures(
                number(cells[1]),
                number(cells[2]),
                cells[3].isEmpty() ? USUAL_SIZE : Integer.parseInt(cells[3]),
                number(cells[4]),
                cells[5],
                cells[6]);
    }

    private static Optional<BigDecimal> number(String cell) {
        return cell.isEmpty() ? Optional.empty() : Optional.of(new BigDecimal(cell));
    }
}
