package dev.saccade.checkpoint.weights;

import ai.djl.ndarray.NDList;

import dev.saccade.core.nn.BatchNorm2d;
import dev.saccade.core.nn.Conv2d;
import dev.saccade.core.nn.Conv2d.Geometry;
import dev.saccade.core.nn.Module;
import dev.saccade.core.nn.WeightInit;

/** Small modules with names like those of a detector. */
public final class Modules {

    private Modules() {}

    public static final class Parent extends Module {

        Parent child(String name, Module child) {
            add(name, child);
            return this;
        }

        @Override
        public NDList call(NDList inputs) {
            throw new UnsupportedOperationException();
        }
    }

    public static Module backbone() {
        return new Parent()
                .child("conv1", Conv2d.withoutBias(new Geometry(3, 4, 3).padding(1)))
                .child("layer1.0.bn1", new BatchNorm2d(4));
    }

    public static Module detector() {
        return new Parent()
                .child("backbone", backbone())
                .child("neck.lateral_convs.0.conv", conv())
                .child("neck.fpn_convs.3.conv", conv())
                .child("bbox_head.cls_convs.1.conv", conv())
                .child("bbox_head.retina_cls", conv());
    }

    public static Conv2d conv() {
        return new Conv2d(new Geometry(4, 4, 1), WeightInit.ZEROS);
    }
}
