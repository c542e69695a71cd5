package dev.saccade.report;

import java.util.List;

/**
 * A section of a report; left out of the page if all blocks are empty.
 *
 * @param lead explanation, or empty
 * @param blocks from top to bottom
 */
public record Section(String title, String lead, List<Block> blocks) {

    /** Leaves out empty blocks. */
    public Section {
        blocks = blocks.stream().filter(block -> !block.isEmpty()).toList();
    }

    public Section(String title, String lead, Block... blocks) {
        this(title, lead, List.of(blocks));
    }

    void write(Markup out) {
        if (blocks.isEmpty()) {
            return;
        }
        out.open("section").leaf("h2", title);
        if (!lead.isEmpty()) {
            out.leaf("p", lead, "class", "lead");
        }
        blocks.forEach(block -> block.write(out));
        out.close();
    }
}
