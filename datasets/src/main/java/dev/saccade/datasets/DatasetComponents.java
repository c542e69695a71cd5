package dev.saccade.datasets;

import dev.saccade.core.components.ComponentConfig;
import dev.saccade.core.components.ComponentProvider;
import dev.saccade.datasets.ade20k.Ade20kDataset;
import dev.saccade.datasets.classification.ImageFolderDataset;
import dev.saccade.datasets.classification.ImageNet;
import dev.saccade.datasets.classification.MixupCutmix;
import dev.saccade.datasets.classification.PixelErasing;
import dev.saccade.datasets.classification.RepeatedAugmentation;
import dev.saccade.datasets.classification.WebDataset;
import dev.saccade.datasets.coco.CocoDataset;
import dev.saccade.datasets.combined.ConcatDataset;
import dev.saccade.datasets.combined.PartiallyLabeledDataset;
import dev.saccade.datasets.folds.FoldDataset;
import dev.saccade.datasets.pillow.AutoAugment;
import dev.saccade.datasets.pillow.CenterCrop;
import dev.saccade.datasets.pillow.ColorJitter;
import dev.saccade.datasets.pillow.RandAugment;
import dev.saccade.datasets.pillow.RandomResizedCrop;
import dev.saccade.datasets.pillow.ResizeEdge;
import dev.saccade.datasets.transforms.CopyPaste;
import dev.saccade.datasets.transforms.GaussianBlur;
import dev.saccade.datasets.transforms.InstaBoost;
import dev.saccade.datasets.transforms.MixUp;
import dev.saccade.datasets.transforms.Mosaic;
import dev.saccade.datasets.transforms.Normalize;
import dev.saccade.datasets.transforms.Pad;
import dev.saccade.datasets.transforms.PhotometricDistortion;
import dev.saccade.datasets.transforms.RandomAffine;
import dev.saccade.datasets.transforms.RandomChoice;
import dev.saccade.datasets.transforms.RandomCrop;
import dev.saccade.datasets.transforms.RandomErasing;
import dev.saccade.datasets.transforms.RandomFlip;
import dev.saccade.datasets.transforms.RandomRotate90;
import dev.saccade.datasets.transforms.Resize;

import java.util.List;

/** Registers data sets and transforms for configs. */
public final class DatasetComponents implements ComponentProvider {

    @Override
    public List<Class<? extends ComponentConfig>> components() {
        return List.of(
                CocoDataset.Config.class,
                Ade20kDataset.Config.class,
                ImageFolderDataset.Config.class,
                ImageNet.Config.class,
                WebDataset.Config.class,
                RepeatedAugmentation.Config.class,
                ClassBalancedDataset.Config.class,
                FoldDataset.Config.class,
                ConcatDataset.Config.class,
                PartiallyLabeledDataset.Config.class,
                RandomResizedCrop.class,
                ResizeEdge.class,
                CenterCrop.class,
                RandAugment.class,
                AutoAugment.class,
                ColorJitter.class,
                MixupCutmix.class,
                PixelErasing.class,
                Resize.class,
                RandomFlip.class,
                RandomCrop.class,
                CopyPaste.class,
                InstaBoost.class,
                Mosaic.class,
                MixUp.class,
                RandomAffine.class,
                RandomRotate90.class,
                RandomErasing.class,
                GaussianBlur.class,
                PhotometricDistortion.class,
                RandomChoice.class,
                Normalize.class,
                Pad.class);
    }
}
