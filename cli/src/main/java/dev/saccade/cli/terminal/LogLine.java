package dev.saccade.cli.terminal;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;

import dev.saccade.core.Printable;

/** The message of a log, in one line: the names in it may be those of a hostile file. */
public final class LogLine extends ClassicConverter {

    @Override
    public String convert(ILoggingEvent event) {
        return Printable.line(event.getFormattedMessage());
    }
}
