package dev.saccade.cli.fuzz;

import com.google.common.base.Splitter;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** Inputs that are texts. */
final class Texts {

    private Texts() {}

    static List<byte[]> all(String... texts) {
        return Stream.of(texts).map(Texts::bytes).toList();
    }

    /** Returns the parts of a text between strokes. */
    static List<byte[]> split(String texts) {
        return split(texts, StandardCharsets.UTF_8);
    }

    static List<byte[]> split(String texts, Charset charset) {
        return Splitter.on('|').splitToStream(texts).map(text -> text.getBytes(charset)).toList();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the text of an input; what is not UTF-8 is replaced. */
    static String of(byte[] input) {
        return new String(input, StandardCharsets.UTF_8);
    }
}
