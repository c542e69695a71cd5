package dev.saccade.report;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;

/** A part of a {@link Section}, such as a table, a chart or example images. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
@JsonSubTypes({
    @JsonSubTypes.Type(Charts.class),
    @JsonSubTypes.Type(Commands.class),
    @JsonSubTypes.Type(Examples.class),
    @JsonSubTypes.Type(FactList.class),
    @JsonSubTypes.Type(Gallery.class),
    @JsonSubTypes.Type(HeatMap.class),
    @JsonSubTypes.Type(Histogram.class),
    @JsonSubTypes.Type(LineChart.class),
    @JsonSubTypes.Type(FractionTable.class),
    @JsonSubTypes.Type(TextTable.class)
})
public sealed interface Block
        permits Charts,
                Commands,
                Examples,
                FactList,
                Gallery,
                HeatMap,
                Histogram,
                LineChart,
                FractionTable,
                TextTable,
                YamlText {

    /** Returns whether to omit the block from the page. */
    boolean isEmpty();

    void write(Markup out);
}
