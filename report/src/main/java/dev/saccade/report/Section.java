package dev.saccade.report;

import com.google.common.collect.ImmutableList;

import java.util.List;

/**
 * A part of a report. Blocks in which there is nothing are left out of the page, and so is a
 * section in which nothing is left.
 *
 * @param title what it is about
 * @param lead a sentence or two on how to read it, or empty
 * @param blocks from top to bottom
 */
public record Section(String title, String lead, List<Block> blocks) {

    /** Copies the list; leaves out empty blocks. */
    public Section {
        blocks =
                blocks.stream()
                        .filter(block -> !block.isEmpty())
                        .collect(ImmutableList.toImmutableList());
    }

    /** Makes a section. */
    public Section(String title, String lead, Block... blocks) {
        this(title, lead, List.of(blocks));
    }
}
