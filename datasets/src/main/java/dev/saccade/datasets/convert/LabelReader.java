package dev.saccade.datasets.convert;

/** Reads the labels of a format. */
interface LabelReader {

    /**
     * Returns whether a folder has labels of the format.
     *
     * @param samples what some of its files look like
     */
    boolean knows(SourceFolder folder, Samples samples);

    /** Returns all labels of a folder; what is wrong with them is told, not thrown. */
    ForeignLabels read(Reading reading);
}
