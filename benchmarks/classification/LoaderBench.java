import dev.saccade.config.ConfigFile;
import dev.saccade.config.ConfigNode;
import dev.saccade.config.Configs;
import dev.saccade.core.components.TargetKind;
import dev.saccade.core.distributed.ProcessGroup;
import dev.saccade.datasets.BatchAugment;
import dev.saccade.datasets.Dataset;
import dev.saccade.datasets.Transform;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.image.OpenCv;
import dev.saccade.datasets.loader.Batch;
import dev.saccade.datasets.loader.DataLoader;

import java.lang.management.ManagementFactory;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Reads epochs of augmented batches of an image folder, and prints images per CPU second. */
public final class LoaderBench {

    private static final int BATCH = 25;

    private record Pipeline(List<Transform> transforms, List<BatchAugment> augments) {}

    public static void main(String[] args) throws Exception {
        OpenCv.load();
        ConfigNode folder = ConfigFile.parse("folder: train", "folder");
        Dataset data =
                Configs.bind(folder, ImageFolderDataset.Config.class).open(Path.of(args[0]));
        int epochs = Integer.parseInt(args[1]);
        String crop = args.length > 2 ? ", " + args[2] : "";
        ConfigNode config =
                ConfigFile.parse(
                        "transforms: [{type: random_resized_crop, size: [224, 224]"
                                + crop
                                + "}, {type: random_flip}, {type: rand_augment}, {type: normalize}]\n"
                                + "augments: [{type: pixel_erasing}]",
                        "transforms");
        Pipeline pipeline = Configs.bind(config, Pipeline.class);
        var system =
                (com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean();
        try (DataLoader<Batch> loader =
                DataLoader.distributed(
                        data,
                        epoch -> pipeline.transforms(),
                        pipeline.augments(),
                        TargetKind.CLASSES,
                        BATCH,
                        1,
                        0,
                        ProcessGroup.alone(),
                        false)) {
            for (int epoch = 0; epoch < epochs; epoch++) {
                long cpu = system.getProcessCpuTime();
                long wall = System.nanoTime();
                int images = 0;
                double sum = 0;
                try (var batches = loader.epoch(epoch)) {
                    while (batches.hasNext()) {
                        try (Batch batch = batches.next()) {
                            images += batch.images().size();
                            FloatBuffer pixels = batch.pixels();
                            for (int i = 0; i < pixels.limit(); i += 97) {
                                sum += pixels.get(i) * (1 + i % 7);
                            }
                        }
                    }
                }
                System.out.printf(
                        Locale.ROOT,
                        "saccade: %d images, %.1f per CPU second, %.1f per second, checksum %.4f%n",
                        images,
                        images * 1e9 / (system.getProcessCpuTime() - cpu),
                        images * 1e9 / (System.nanoTime() - wall),
                        sum);
            }
        }
    }
}
