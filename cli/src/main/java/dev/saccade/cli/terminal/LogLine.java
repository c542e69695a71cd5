package dev.saccade.cli.terminal;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;

import dev.saccade.core.Printable;

/** Keeps each log message on one line, because names in it are untrusted. */
public final class LogLine extends ClassicConverter {

    @Override
    public String convert(ILoggingEvent event) {
        return Printable.line(event.getFormattedMessage());
    }
}
