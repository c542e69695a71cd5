package dev.saccade.report;

import com.google.common.base.Splitter;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** YAML with bold keys and italic comments. */
public record YamlText(String yaml) implements Block {

    private static final Pattern LINE =
            Pattern.compile(
                    "(?<indent>[ -]*)(?<key>[^\\s:#\"'][^:#]*:)?(?<value>.*?)(?<note>\\s#.*)?");

    @Override
    public boolean isEmpty() {
        return yaml.isBlank();
    }

    @Override
    public void write(Markup out) {
        out.open("pre").open("code");
        for (String line : Splitter.on('\n').split(yaml.stripTrailing())) {
            Matcher parts = LINE.matcher(line);
            if (parts.matches()) {
                out.text(parts.group("indent"));
                if (parts.group("key") != null) {
                    out.leaf("b", parts.group("key"));
                }
                out.text(parts.group("value"));
                if (parts.group("note") != null) {
                    out.leaf("i", parts.group("note"));
                }
            } else {
                out.text(line);
            }
            out.verbatim("\n");
        }
        out.close().close();
    }
}
