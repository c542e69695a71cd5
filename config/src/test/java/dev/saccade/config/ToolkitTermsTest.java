package dev.saccade.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

class ToolkitTermsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "nothing",
            value = {
                "lr: 1 | '; in Saccade it is optimizer.learning_rate'",
                "Imgs_Per_GPU: 1 | '; in Saccade it is data.batch_size'",
                "num_classes: 4 | '; the classes are read from the annotations'",
                "SOLVER: {BASE_LR: 1, X: 2} | '; SOLVER.BASE_LR: in Saccade it is optimizer.learning_rate'",
                "optim_wrapper: {lr: 1} | '; in Saccade it is optimizer'",
                "train_cfg: {max_epochs: 3} | '; train_cfg.max_epochs: in Saccade it is epochs'",
                "oversample_thr: 1 | '; in Saccade it is oversample_threshold in data sets of type class_balanced'",
                "deform_groups: 2 | '; only the neck dyhead has deformable convolutions, with one offset group'",
                "norm_cfg: {type: GN} | '; components use the normalization of the original model; some have a key norm or norm_groups'",
                "own: {thing: 3} | ''",
                "train_cfg: {type: EpochBasedTrainLoop} | ''",
            })
    void suggestsTheEquivalentOfAKey(String line, String expected) {
        ConfigFile.parse(line, "file")
                .entries()
                .forEach(
                        (key, value) ->
                                assertEquals(expected, ToolkitTerms.hintForKey(key, value)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bbox_head: {num_convs: 4} | '; in Saccade it is model.head'",
                "roi_head: {type: HybridTaskCascadeRoIHead} | '; in Saccade it is model.head'",
                "train_cfg: {rcnn: {pos_weight: -1}} | '; in Saccade it is model.head'",
                "test_cfg: {rpn: {nms_pre: 1000}} | '; in Saccade it is model.head'",
                "test_cfg: {rcnn: {score_thr: 0.1}} | '; test_cfg.rcnn.score_thr: in Saccade it is model.head.nms.score_thr'",
            })
    void suggestsHeadKeysForModelKeys(String line, String expected) {
        ConfigFile.parse(line, "file")
                .entries()
                .forEach(
                        (key, value) ->
                                assertEquals(
                                        expected, ToolkitTerms.hintForKey("model." + key, value)));
    }

    @ParameterizedTest
    @CsvSource({"fp16, ; in Saccade it is float16", "16, ; in Saccade it is float16", "bf16, ''"})
    void suggestsTheEquivalentOfAValue(String value, String expected) {
        assertEquals(expected, ToolkitTerms.hintForValue(value, List.of("float32", "float16")));
    }

    @Test
    void everyWordIsInOneRow() {
        ToolkitTerms table = ToolkitTerms.ALL;
        Stream.of(table.commands(), table.options(), table.keys(), table.values())
                .map(ToolkitTermsTest::words)
                .forEach(words -> assertEquals(words.stream().distinct().toList(), words));
    }

    private static List<String> words(List<ToolkitTerms.Term> rows) {
        return rows.stream()
                .flatMap(row -> row.words().stream())
                .map(word -> word.toLowerCase(Locale.ROOT))
                .toList();
    }
}
