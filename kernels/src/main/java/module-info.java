module dev.saccade.kernels {}
