package dev.saccade.cli.terminal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.saccade.core.Printable;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;

/**
 * Escapes control characters in all output; see {@link Printable}. Keeps line breaks, tabs and
 * carriage returns, so line breaks in names must be escaped beforehand.
 */
public final class TerminalStream extends OutputStream {

    private final PrintStream target;
    private final CharsetDecoder decoder =
            UTF_8.newDecoder()
                    .onMalformedInput(CodingErrorAction.REPLACE)
                    .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private ByteBuffer begun = ByteBuffer.allocate(0);

    private TerminalStream(PrintStream target) {
        this.target = target;
    }

    /** Wraps a stream; the input is UTF-8. */
    public static PrintStream wrap(PrintStream target) {
        return new PrintStream(new TerminalStream(target), true, UTF_8);
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteBuffer in =
                ByteBuffer.allocate(begun.remaining() + length)
                        .put(begun)
                        .put(bytes, offset, length)
                        .flip();
        CharBuffer text = CharBuffer.allocate(in.remaining() + 1);
        decoder.decode(in, text, /* endOfInput= */ false);
        begun = in;
        String shown = Printable.escape(text.flip().toString(), "\n\r\t");
        target.write(shown.getBytes(UTF_8));
    }

    @Override
    public void flush() {
        target.flush();
    }
}
