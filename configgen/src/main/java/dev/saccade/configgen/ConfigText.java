package dev.saccade.configgen;

import com.google.common.base.Strings;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;

import dev.saccade.core.Text;

/** Lines of a config with aligned comments. */
final class ConfigText {

    /** Column at which comments start. */
    private static final int COMMENT_COLUMN = 48;

    private final StringBuilder text = new StringBuilder();

    /** Adds lines; text after a tab becomes a comment. */
    @FormatMethod
    void add(@FormatString String lines, Object... values) {
        Text.format(lines, values)
                .lines()
                .forEach(
                        line -> {
                            int end = line.indexOf('\t');
                            String reason = end < 0 ? "" : line.substring(end + 1);
                            String setting = end < 0 ? line : line.substring(0, end);
                            text.append(
                                            reason.isEmpty()
                                                    ? setting
                                                    : Strings.padEnd(setting, COMMENT_COLUMN, ' ')
                                                            + "  # "
                                                            + reason)
                                    .append('\n');
                        });
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
