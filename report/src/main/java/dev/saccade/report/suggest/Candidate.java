package dev.saccade.report.suggest;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.structures.Instances;
import dev.saccade.datasets.ImageFile;

import java.util.Optional;

/**
 * An unlabeled image.
 *
 * @param name path relative to the folder of the images, with {@code /} between its parts
 * @param uncertainty how uncertain the model is, 0 or more
 * @param reason describes the uncertainty
 * @param embedding features of the image; see {@code TrainedModel.embedding}
 * @param objects detections of any score; empty for a segmenter
 */
public record Candidate(
        String name,
        ImageFile image,
        double uncertainty,
        String reason,
        ImmutableDoubleArray embedding,
        Optional<Instances> objects) {}
