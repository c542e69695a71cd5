package dev.saccade.cli;

import picocli.CommandLine.IVersionProvider;

/** The version of Saccade, from the jar it was started from. */
final class Version implements IVersionProvider {

    static String saccade() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "unpackaged" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"saccade " + saccade()};
    }
}
