package dev.saccade.models;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.saccade.config.ConfigFile;
import dev.saccade.config.Configs;
import dev.saccade.core.SaccadeException;

import org.junit.jupiter.api.Test;

import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;

class ProvenanceTest {

    private static final Provenance PROVENANCE =
            new Provenance(
                    List.of("saccade 1.0, libtorch 2.7.1 for CPUs"),
                    Optional.of(new Provenance.InitialWeights("resnet \"18\".pth", "ab12")),
                    new Provenance.TrainingData(Optional.of("cells: 1"), 200, "cd34"),
                    7,
                    300,
                    Map.of("AP", 0.25),
                    Map.of(
                            "optimizer.lr",
                            "0.01",
                            "model.head.type",
                            "retinanet",
                            "note",
                            "a: `b`"));

    @Test
    void surviveTheMetadata() {
        assertEquals(
                Optional.of(PROVENANCE), Provenance.find(PROVENANCE.toMetadata(), "a.safetensors"));
        assertEquals(Optional.empty(), Provenance.find(Map.of(), "a.safetensors"));
    }

    @Test
    void reportsDamagedMetadata() {
        SaccadeException damaged =
                assertThrows(
                        SaccadeException.class,
                        () -> Provenance.find(Map.of(Provenance.KEY, "seed: x"), "a.safetensors"));
        assertEquals(SaccadeException.Kind.USER, damaged.kind());
        assertTrue(damaged.getMessage().contains("a.safetensors, provenance"), damaged.toString());
    }

    @Test
    void listsAllVersionsOfAResumedRun() {
        Provenance later =
                new Provenance(
                        List.of("saccade 1.1"),
                        Optional.empty(),
                        PROVENANCE.data(),
                        7,
                        0,
                        Map.of(),
                        Map.of());
        Provenance resumed = later.continuing(PROVENANCE);
        assertEquals(
                List.of("saccade 1.0, libtorch 2.7.1 for CPUs", "saccade 1.1"), resumed.software());
        assertEquals(PROVENANCE.initFrom(), resumed.initFrom());
        assertEquals(resumed, later.continuing(resumed));
    }

    @Test
    void isDescribedInAModelCard() {
        assertEquals(
                """
                ---
                library_name: saccade
                license: unknown
                pipeline_tag: object-detection
                datasets:
                - "cells: 1"
                metrics:
                - AP
                model-index:
                - name: demo
                  results:
                  - task:
                      type: object-detection
                    dataset:
                      type: "cells: 1"
                      name: "cells: 1"
                    metrics:
                    - type: AP
                      value: 0.25
                ---

                # demo

                `retinanet` with a `resnet` backbone, written by Saccade on 2026-11-28. Set `license` above\
                 before you publish the model: it depends on the training data and the initial weights.

                ## Classes

                `red`, `green`

                ## Provenance

                | | |
                |---|---|
                | Software | `saccade 1.0, libtorch 2.7.1 for CPUs` |
                | Initial weights | `resnet "18".pth, SHA-256 ab12` |
                | Training data | `cells: 1, 200 images, fingerprint cd34` |
                | Seed | `7` |
                | Steps | `300` |
                | Metrics | `AP 0.2500` |

                ## Config

                Settings that affect training:

                ```yaml
                model.head.type: retinanet
                note: "a: `b`"
                optimizer.lr: 0.01
                ```
                """,
                card(Optional.of(PROVENANCE)));
    }

    @Test
    void isUnknownInOldCheckpoints() {
        String card = card(Optional.empty());
        assertTrue(card.endsWith("Unknown: the checkpoint was written without it.\n"), card);
        assertFalse(card.contains("metrics:"), card);
        assertEquals(
                "  provenance     unknown; the file was written without it",
                Provenance.describe(Optional.empty()));
    }

    private String card(Optional<Provenance> provenance) {
        ModelConfig model =
                Configs.bind(
                        ConfigFile.parse(
                                "{backbone: {type: resnet, depth: 18}, neck: {type: fpn}, head:"
                                        + " {type: retinanet}}",
                                "test"),
                        ModelConfig.class);
        ModelSpec spec = new ModelSpec(model, List.of(), List.of("red", "green"));
        return new ModelCard("demo", spec, provenance).markdown(LocalDate.of(2026, 11, 28));
    }
}
