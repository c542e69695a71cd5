package dev.saccade.report;

import java.util.List;
import java.util.Locale;

/** A section with an introduction, which may be empty; omitted if all blocks are empty. */
public record Section(String title, String lead, List<Block> blocks) {

    public Section {
        blocks = blocks.stream().filter(block -> !block.isEmpty()).toList();
    }

    public Section(String title, String lead, Block... blocks) {
        this(title, lead, List.of(blocks));
    }

    boolean isEmpty() {
        return blocks.isEmpty();
    }

    String id() {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceFirst("-$", "");
    }

    void write(Markup out) {
        if (isEmpty()) {
            return;
        }
        out.open("section", "id", id()).leaf("h2", title);
        if (!lead.isEmpty()) {
            out.leaf("p", lead, "class", "lead");
        }
        blocks.forEach(block -> block.write(out));
        out.close();
    }
}
