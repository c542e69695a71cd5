package dev.saccade.report;

import java.util.List;

/** Shell commands to copy, one per line. */
public record Commands(List<String> lines) implements Block {

    @Override
    public boolean isEmpty() {
        return lines.isEmpty();
    }

    @Override
    public void write(Markup out) {
        out.open("pre", "class", "commands").open("code");
        lines.forEach(line -> out.text(line).verbatim("\n"));
        out.close().close();
    }
}
