package dev.saccade.models.zoo;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.components.Default;
import dev.saccade.core.components.Unwrapped;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Published results from {@code configs/papers.yaml}: papers and toolkits by key, and reasons why
 * Saccade's parameter or FLOP counts differ.
 */
public record Papers(Map<String, Source> sources, Map<String, String> reasons) {

    private static final Splitter LINES = Splitter.on('\n').omitEmptyStrings();
    private static final Splitter CELLS = Splitter.on('|').trimResults();

    /** A paper or toolkit. */
    public record Source(@Unwrapped Publication publication, @Default("[]") List<Table> tables) {}

    /**
     * A table of a paper.
     *
     * @param size width and height of the input for multiply-adds
     * @param cells rows with cells separated by {@code |}; the first row names the columns
     * @param omitted rows and columns of the paper that are not listed
     */
    public record Table(
            String title,
            @Default("[224, 224]") List<Integer> size,
            String cells,
            Optional<String> omitted,
            Optional<String> note) {

        /** Returns the names of the columns with results. */
        public List<String> columns() {
            return header().stream()
                    .skip(2)
                    .filter(column -> !column.equals(REASON))
                    .collect(ImmutableList.toImmutableList());
        }

        private List<String> header() {
            return CELLS.splitToList(LINES.splitToList(cells).get(0));
        }

        /** Returns the rows in the order of the paper. */
        public List<Row> rows() {
            return LINES.splitToList(cells).stream()
                    .skip(1)
                    .map(line -> row(CELLS.splitToList(line)))
                    .collect(ImmutableList.toImmutableList());
        }

        private Row row(List<String> values) {
            List<String> header = header();
            if (values.size() != header.size()) {
                throw new IllegalArgumentException(
                        title + ": got " + values + ", expected " + header.size() + " cells");
            }
            ImmutableMap.Builder<String, BigDecimal> published = ImmutableMap.builder();
            String reason = "";
            for (int i = 2; i < values.size(); i++) {
                if (header.get(i).equals(REASON)) {
                    reason = values.get(i);
                } else if (!values.get(i).isEmpty()) {
                    published.put(header.get(i), new BigDecimal(values.get(i)));
                }
            }
            return new Row(
                    values.get(0),
                    values.get(1),
                    published.buildOrThrow(),
                    Optional.of(reason).filter(key -> !key.isEmpty()));
        }
    }

    /**
     * A row of a table.
     *
     * @param model name of the model in the paper
     * @param name recipe or backbone, such as {@code focal_base_224}
     * @param published results by column, with the decimals of the paper: {@code parameters} in
     *     millions, {@code flops} in billions of multiply-adds, accuracies in percent
     */
    public record Row(
            String model,
            String name,
            Map<String, BigDecimal> published,
            Optional<String> reason) {}

    private static final String REASON = "reason";

    public static Papers packaged() {
        return Configs.bind(ConfigFile.packaged("papers.yaml"), Papers.class);
    }

    /**
     * Returns the results of a recipe; throws if two tables of the source contradict each other.
     */
    Map<String, BigDecimal> published(String source, String recipe) {
        Map<String, BigDecimal> results = new LinkedHashMap<>();
        sources.get(source).tables().stream()
                .flatMap(table -> table.rows().stream())
                .filter(row -> row.name().equals(recipe))
                .flatMap(row -> row.published().entrySet().stream())
                .forEach(
                        cell -> {
                            BigDecimal before = results.putIfAbsent(cell.getKey(), cell.getValue());
                            if (before != null && before.compareTo(cell.getValue()) != 0) {
                                throw new IllegalArgumentException(
                                        source
                                                + ": "
                                                + recipe
                                                + ": "
                                                + cell
                                                + " contradicts "
                                                + before);
                            }
                        });
        return results;
    }
}
