package dev.saccade.report.predictions;

import com.google.common.primitives.ImmutableDoubleArray;

import dev.saccade.core.OutputFolder;
import dev.saccade.video.tracking.LineCounter;
import dev.saccade.video.tracking.Tracker;
import dev.saccade.video.tracking.ZoneCounter;

import java.util.List;
import java.util.Optional;

/**
 * Settings of tracking in videos.
 *
 * @param lines lines at which objects are counted, see {@link LineCounter#of}
 * @param zones polygons in which objects are counted, see {@link ZoneCounter#of}
 * @param folder folder of the tracks in MOT format; empty to write none
 */
public record TrackingSettings(
        Tracker.Config tracker,
        List<ImmutableDoubleArray> lines,
        List<ImmutableDoubleArray> zones,
        Optional<OutputFolder> folder) {}
