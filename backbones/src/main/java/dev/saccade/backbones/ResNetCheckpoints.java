package dev.saccade.backbones;

import dev.saccade.core.conversion.CheckpointRules;
import dev.saccade.core.conversion.NameTable;

import java.util.List;

/** Maps ResNet names of other libraries to torchvision's, which Saccade uses. */
final class ResNetCheckpoints {

    private static final String MARK = "{b}layer1.0.conv1.weight";

    private static final String BARE_MARK = "layer1.0.conv1.weight";

    private static final String CAFFE_NOTE =
            "Caffe2 and MSRA weights expect BGR pixels with standard deviation 1 and the stride"
                    + " in the first 1x1 convolution of a bottleneck; this backbone has the stride"
                    + " in the 3x3 convolution, so features would be wrong; use detectron2's"
                    + " converted torchvision weights instead";

    private static final NameTable TORCHVISION =
            new NameTable("torchvision", BARE_MARK, List.of(BARE_MARK), "");

    private static final NameTable TORCHVISION_CLASSIFIER =
            new NameTable(
                    "torchvision",
                    "fc.weight",
                    List.of(BARE_MARK, "head.weight"),
                    "fc.{*}  head.{*}");

    private static final NameTable MMPRETRAIN =
            new NameTable(
                            "openmmlab",
                            "backbone.layer1.0.conv1.weight",
                            List.of("backbone.layer1.0.conv1.weight", "head.weight"),
                            "head.fc.{*}  head.{*}")
                    .withMark("head.fc.weight");

    private static final NameTable HUGGING_FACE =
            new NameTable(
                    "huggingface",
                    "{b}embedder.embedder.convolution.weight",
                    List.of(MARK, "{b}conv1.weight"),
                    """
                    {b}classifier.1.{*}                                          {b}head.{*}
                    {b}embedder.embedder.convolution.{*}                         {b}conv1.{*}
                    {b}embedder.embedder.normalization.{*}                       {b}bn1.{*}
                    {b}encoder.stages.{i}.layers.{j}.shortcut.convolution.{*}    {b}layer{i+1}.{j}.downsample.0.{*}
                    {b}encoder.stages.{i}.layers.{j}.shortcut.normalization.{*}  {b}layer{i+1}.{j}.downsample.1.{*}
                    {b}encoder.stages.{i}.layers.{j}.layer.{k}.convolution.{*}   {b}layer{i+1}.{j}.conv{k+1}.{*}
                    {b}encoder.stages.{i}.layers.{j}.layer.{k}.normalization.{*} {b}layer{i+1}.{j}.bn{k+1}.{*}
                    """);

    private static final NameTable DETECTRON2 =
            new NameTable(
                            "detectron2",
                            "{b}res2.0.conv1.weight",
                            List.of(MARK, "{b}conv1.weight"),
                            """
                            {b}stem.conv1.norm.{*}           {b}bn1.{*}
                            {b}stem.conv1.{*}                {b}conv1.{*}
                            {b}res{i+1}.{j}.shortcut.norm.{*}  {b}layer{i}.{j}.downsample.1.{*}
                            {b}res{i+1}.{j}.shortcut.{*}       {b}layer{i}.{j}.downsample.0.{*}
                            {b}res{i+1}.{j}.conv{k}.norm.{*}   {b}layer{i}.{j}.bn{k}.{*}
                            {b}res{i+1}.{j}.conv{k}.{*}        {b}layer{i}.{j}.conv{k}.{*}
                            """)
                    .withNote("detectron2 names; for weights from its Model Zoo: " + CAFFE_NOTE);

    /** Detectron's Caffe2 names, as in the MSRA and FAIR files of detectron2's Model Zoo. */
    private static final NameTable CAFFE2 =
            new NameTable(
                            "caffe2",
                            "{b}res2_0_branch2a_w",
                            List.of(MARK, "{b}conv1.weight"),
                            caffe2Rows())
                    .withNote(CAFFE_NOTE);

    static final CheckpointRules RULES =
            CheckpointRules.NONE
                    .withNames(
                            TORCHVISION_CLASSIFIER,
                            TORCHVISION,
                            MMPRETRAIN,
                            HUGGING_FACE,
                            DETECTRON2,
                            CAFFE2)
                    .withUnexpected(
                            "{b}head.weight",
                            "{b}head.bias",
                            "{b}fc.weight",
                            "{b}fc.bias",
                            "{b}fc1000_w",
                            "{b}fc1000_b",
                            "{b}stem.fc.{*}");

    private ResNetCheckpoints() {}

    private static String caffe2Rows() {
        StringBuilder rows = new StringBuilder("{b}conv1_w {b}conv1.weight\n");
        norm(rows, "res_conv1_bn", "bn1");
        layer(rows, "branch1", "downsample.0", "downsample.1");
        layer(rows, "branch2a", "conv1", "bn1");
        layer(rows, "branch2b", "conv2", "bn2");
        layer(rows, "branch2c", "conv3", "bn3");
        return rows.toString();
    }

    private static void layer(StringBuilder rows, String theirs, String conv, String norm) {
        String place = "{b}layer{i}.{j}.";
        rows.append("{b}res{i+1}_{j}_" + theirs + "_w " + place + conv + ".weight\n");
        norm(rows, "res{i+1}_{j}_" + theirs + "_bn", "layer{i}.{j}." + norm);
    }

    private static void norm(StringBuilder rows, String theirs, String ours) {
        rows.append("{b}" + theirs + "_s {b}" + ours + ".weight\n");
        rows.append("{b}" + theirs + "_b {b}" + ours + ".bias\n");
        rows.append("{b}" + theirs + "_rm {b}" + ours + ".running_mean\n");
        rows.append("{b}" + theirs + "_riv {b}" + ours + ".running_var\n");
    }
}
