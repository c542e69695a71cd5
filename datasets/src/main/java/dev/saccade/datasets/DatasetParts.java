package dev.saccade.datasets;

import dev.saccade.core.parts.PartConfig;
import dev.saccade.core.parts.PartProvider;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.transforms.CopyPaste;
import dev.saccade.datasets.transforms.InstaBoost;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.PhotometricDistortion;
import dev.saccade.datasets.transforms.RandomChoice;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.Resize;

import java.util.List;

/** Registers data sets and transforms for configs. */
public final class DatasetParts implements PartProvider {

    @Override
    public List<Class<? extends PartConfig>> parts() {
        return List.of(
                CocoDataset.Config.class,
                Ade20kDataset.Config.class,
                ClassBalancedDataset.Config.class,
                Resize.class,
                RandomFlip.class,
                RandomCrop.class,
                CopyPaste.class,
                InstaBoost.class,
                PhotometricDistortion.class,
                RandomChoice.class,
                Normalize.class,
                Pad.class);
    }
}
