package dev.saccade.spring;

/** Properties of a model. */
public class ModelProperties {

    /** Checkpoint of a Saccade run, such as best.safetensors. */
    private String model;

    /** Device: auto (the first GPU, else the CPU), cpu, cuda or cuda:1. */
    private String device = "auto";

    /** Precision: float32, bfloat16 or float16; default: the checkpoint's. */
    private String precision;

    /** Minimum score of a detector's objects: recommended, per-class or a number from 0 to 1. */
    private String scores = "recommended";

    /** Maximum number of images that are waiting or in progress. */
    private int maxQueue = 128;

    /** Maximum number of images per batch; segmenters predict single images. */
    private int maxBatch = 4;

    /** Maximum number of pixels per image; larger images are rejected. */
    private int maxPixels = 64_000_000;

    public String getModel() {
        return model;
    }

    public void setModel(String model) {
        this.model = model;
    }

    public String getDevice() {
        return device;
    }

    public void setDevice(String device) {
        this.device = device;
    }

    public String getPrecision() {
        return precision;
    }

    public void setPrecision(String precision) {
        this.precision = precision;
    }

    public String getScores() {
        return scores;
    }

    public void setScores(String scores) {
        this.scores = scores;
    }

    public int getMaxQueue() {
        return maxQueue;
    }

    public void setMaxQueue(int maxQueue) {
        this.maxQueue = maxQueue;
    }

    public int getMaxBatch() {
        return maxBatch;
    }

    public void setMaxBatch(int maxBatch) {
        this.maxBatch = maxBatch;
    }

    public int getMaxPixels() {
        return maxPixels;
    }

    public void setMaxPixels(int maxPixels) {
        this.maxPixels = maxPixels;
    }
}
