"""A hundred odd models as people write them. scripts/check_import --odd has them written, imports them and compares predictions.

    odd_keras_models.py FOLDER     writes models in all formats, rows, Keras's outputs and cases.json

Works with tf.keras 2.13 to 2.15 and with Keras 3 on any back end. A model that this Keras cannot build is left out, and said so.
"""
import json
import pathlib
import sys

import numpy

import keras_models
from keras_models import L, MAJOR, keras

R, I, O, M = keras.regularizers, keras.initializers, keras.optimizers, keras.metrics
CLASSES = {"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]}
BINARY = {"loss": "binary_crossentropy", "metrics": ["accuracy"]}
NUMBERS = {"loss": "mse", "metrics": ["mae"]}


def stack(shape, *layers, optimizer="adam", whole=None, **settings):
    """A Sequential, compiled unless `settings` is empty. `whole`: rows are whole numbers below it."""
    model = keras.Sequential([L.Input(shape), *layers])
    return finish(model, optimizer, whole, settings)


def chain(shape, *layers, optimizer="adam", whole=None, call=None, **settings):
    """The same as a functional model; `call`: {position: arguments of the call}."""
    rows = L.Input(shape)
    x = rows
    for position, layer in enumerate(layers):
        x = layer(x, **(call or {}).get(position, {}))
    return finish(keras.Model(rows, x), optimizer, whole, settings)


def finish(model, optimizer, whole, settings):
    if settings:
        model.compile(optimizer=optimizer, **settings)
    model.whole = whole
    return model


def slope(value):
    return L.LeakyReLU(**keras_models.slope(value))


def schedule(name, *arguments, **settings):
    return getattr(O.schedules, name)(*arguments, **settings)


def constraint(name, *arguments):
    return getattr(keras.constraints, name)(*arguments)


def adapted(layer, shape):
    layer.adapt(numpy.random.default_rng(3).normal(size=(64, *shape)).astype("float32"))
    return layer


def old_clipped():
    """clipnorm 0, as files of old Keras have it where nothing is clipped; stored in the file's text."""
    model = stack((4,), L.Dense(3, "relu"), L.Dense(1), optimizer=O.SGD(0.01), **NUMBERS)
    model.optimizer.clipnorm = 0.0
    return model


def subclassed_metric_names():
    return stack((6,), L.Dense(3, "softmax"), optimizer="sgd", loss="categorical_crossentropy",
                 metrics=[M.CategoricalAccuracy(name="acc"), M.TopKCategoricalAccuracy(k=2), M.KLDivergence()])


def branches():
    rows = L.Input((4,))
    return finish(keras.Model(rows, L.Concatenate()([L.Dense(2)(rows), L.Dense(3)(rows)])), "adam", None, NUMBERS)


def residual():
    rows = L.Input((4,))
    return finish(keras.Model(rows, L.Add()([rows, L.Dense(4, "relu")(rows)])), "adam", None, NUMBERS)


def two_outputs():
    rows = L.Input((4,))
    x = L.Dense(5, "relu")(rows)
    return finish(keras.Model(rows, [L.Dense(1)(x), L.Dense(2)(x)]), "adam", None, {"loss": "mse"})


def deep_nested():
    """Models in a model in a model."""
    low = keras.Sequential([L.Input((8,)), L.Dense(6, "tanh"), L.BatchNormalization()])
    rows = L.Input((8,))
    middle = keras.Model(rows, L.Dense(5, "relu")(low(rows)))
    return stack((8,), middle, L.Dropout(0.1), keras.Sequential([L.Input((5,)), L.Dense(4), L.LayerNormalization()]),
                 L.Dense(2, "softmax"), **CLASSES)


def frozen_nested():
    inner = keras.Sequential([L.Input((9, 9, 2)), L.Conv2D(4, 3, activation="relu"), L.BatchNormalization(), L.MaxPooling2D()])
    inner.trainable = False
    return stack((9, 9, 2), inner, L.Flatten(), L.Dense(3, "softmax"), **CLASSES)


def autoencoder():
    """Two functional models one behind the other."""
    rows = L.Input((12,), name="picture")
    encoder = keras.Model(rows, L.Dense(3, "relu", name="code")(L.Dense(6, "relu")(rows)), name="encoder")
    code = L.Input((3,), name="code_in")
    decoder = keras.Model(code, L.Dense(12, "sigmoid")(L.Dense(6, "relu")(code)), name="decoder")
    whole = L.Input((12,))
    return finish(keras.Model(whole, decoder(encoder(whole))), "adadelta", None, {"loss": "binary_crossentropy"})


def lenet(activation, pooling):
    return stack((28, 28, 1), L.Conv2D(6, 5, padding="same", activation=activation), pooling(2), L.Conv2D(16, 5, activation=activation),
                 pooling(2), L.Flatten(), L.Dense(120, activation), L.Dense(84, activation), L.Dense(10, "softmax"), **CLASSES)


def unstacked_lstm():
    return stack((7, 3), L.LSTM(5, return_sequences=True, dropout=0.1), L.LSTM(4, go_backwards=False, recurrent_activation="sigmoid"),
                 L.Dense(1), optimizer=O.Adam(clipvalue=0.5), **NUMBERS)


#: Kinds that no program represents. They are refused by name, and do not count as odd models.
BEYOND = {"conv_3d", "group_norm", "lambda", "layer_norm_rms", "training_false_norm", "training_true", "two_outputs"}
#: name: how it is made. Each is one kind of thing that files hold.
ODD = {
    # plain stacks: activations, initialisers, regularisers
    "xor": lambda: stack((2,), L.Dense(2, "sigmoid"), L.Dense(1, "sigmoid"), optimizer=O.SGD(0.5, momentum=0.9, nesterov=True), **BINARY),
    "mixed_activations": lambda: stack((5,), *[L.Dense(4, name) for name in (
        "relu", "tanh", "selu", "elu", "softplus", "softsign", "exponential", "swish", "gelu", "linear", "sigmoid")],
        L.Dense(3, "softmax"), **CLASSES),
    "activation_layers": lambda: stack((5,), L.Dense(6), L.Activation("relu"), L.Dense(6), L.ELU(0.7), L.Dense(6), slope(0.05),
                                       L.Dense(3), L.Softmax(), **CLASSES),
    "relu_layers": lambda: stack((5,), L.Dense(6), L.ReLU(6.0), L.Dense(6), L.ReLU(max_value=2.0, negative_slope=0.1, threshold=0.2),
                                 L.Dense(6), L.ReLU(), L.Dense(1), **NUMBERS),
    "relu_threshold": lambda: stack((5,), L.Dense(6), L.ReLU(threshold=0.5), L.Dense(1), **NUMBERS),
    "activation_is_layer": lambda: stack((5,), L.Dense(6, activation=L.ReLU()), L.Dense(6, activation=slope(0.2)), L.Dense(1), **NUMBERS),
    "activation_is_elu_layer": lambda: stack((6, 6, 2), L.Conv2D(3, 3, activation=L.ELU(0.5)), L.Flatten(),
                                             L.Dense(2, activation=L.Softmax()), **CLASSES),
    "activation_layer_of_layer": lambda: stack((5,), L.Dense(4), L.Activation(L.ReLU(max_value=1.0)), L.Dense(1), **NUMBERS),
    "activation_is_function": lambda: stack((5,), L.Dense(6, activation=keras.activations.relu), L.Dense(3, activation=keras.activations.softmax), **CLASSES),
    "hard_sigmoid": lambda: stack((5,), L.Dense(6, activation="hard_sigmoid"), L.Dense(1), **NUMBERS),
    "relu6": lambda: stack((5,), L.Dense(6, activation="relu6"), L.Dense(1), **NUMBERS),
    "leaky_word": lambda: stack((5,), L.Dense(6, activation="leaky_relu"), L.Dense(1), **NUMBERS),
    "mish": lambda: stack((5,), L.Dense(6, activation="mish"), L.Dense(1), **NUMBERS),
    "silu": lambda: stack((5,), L.Dense(6, activation="silu"), L.Dense(1), **NUMBERS),
    "gelu_layer": lambda: stack((5,), L.Dense(6), L.Activation("gelu"), L.Dense(1), **NUMBERS),
    "thresholded_relu": lambda: stack((5,), L.Dense(6), L.ThresholdedReLU(0.7), L.Dense(1), **NUMBERS),
    "initialisers": lambda: stack((6,), *[L.Dense(6, kernel_initializer=each, bias_initializer="ones") for each in (
        "he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "glorot_normal", "random_normal", "random_uniform",
        "truncated_normal", "orthogonal", "identity", "zeros", "ones")], L.Dense(1), **NUMBERS),
    "initialiser_objects": lambda: stack((6,), L.Dense(6, kernel_initializer=I.VarianceScaling(2.0, "fan_avg", "uniform")),
                                         L.Dense(5, kernel_initializer=I.RandomNormal(0.1, 0.02, seed=3), bias_initializer=I.Constant(0.1)),
                                         L.Dense(4, kernel_initializer=I.Orthogonal(1.4)), L.Dense(1, kernel_initializer=I.TruncatedNormal(stddev=0.3)), **NUMBERS),
    "regularisers": lambda: stack((6,), L.Dense(6, kernel_regularizer="l2", activity_regularizer=R.L1(1e-4)),
                                  L.Dense(5, kernel_regularizer=R.L1L2(1e-5, 1e-4), bias_regularizer=R.L2(1e-4)),
                                  L.Dense(4, kernel_regularizer=R.l1(0.02)), L.Dense(3, "softmax"), **CLASSES),
    "no_bias": lambda: stack((6,), L.Dense(6, use_bias=False), L.BatchNormalization(scale=False), L.Activation("relu"), L.Dense(1, use_bias=False), **NUMBERS),
    "one_layer": lambda: stack((3,), L.Dense(1), **NUMBERS),
    "deep": lambda: stack((4,), *[L.Dense(8, "relu") for _ in range(12)], L.Dense(2, "softmax"), **CLASSES),
    "not_compiled": lambda: stack((4,), L.Dense(8, "relu"), L.Dropout(0.5), L.Dense(2, "softmax")),
    "half_frozen": lambda: stack((4,), L.Dense(8, "relu", trainable=False), L.Dense(2, "softmax"), **CLASSES),
    "named_layers": lambda: stack((4,), L.Dense(8, "relu", name="a/b"), L.Dense(4, name="a"), L.Dense(2, "softmax", name="dense_1"), **CLASSES),
    # inputs of more extents
    "dense_on_steps": lambda: stack((5, 3), L.Dense(4, "relu"), L.Dense(2), L.Flatten(), L.Dense(1), **NUMBERS),
    "dense_on_images": lambda: stack((4, 5, 3), L.Dense(4, "relu"), L.Flatten(), L.Dense(1), **NUMBERS),
    "reshape": lambda: stack((12,), L.Reshape((3, 4)), L.Dense(2), L.Reshape((-1,)), L.Dense(1), **NUMBERS),
    "reshape_to_image": lambda: stack((36,), L.Reshape((6, 6, 1)), L.Conv2D(2, 3), L.Flatten(), L.Dense(2), **NUMBERS),
    "sequence_out": lambda: stack((5, 3), L.LSTM(4, return_sequences=True), L.Dense(2), **NUMBERS),
    # images
    "lenet_tanh": lambda: lenet("tanh", L.AveragePooling2D),
    "lenet_relu": lambda: lenet("relu", L.MaxPooling2D),
    "vgg_block": lambda: stack((12, 12, 3), L.Conv2D(4, 3, padding="same", activation="relu"), L.Conv2D(4, 3, padding="same", activation="relu"),
                               L.MaxPooling2D((2, 2), strides=(2, 2)), L.Dropout(0.25), L.Flatten(), L.Dense(16, "relu"), L.Dropout(0.5),
                               L.Dense(10, "softmax"), optimizer=O.RMSprop(1e-4), **CLASSES),
    "dilated": lambda: stack((11, 11, 1), L.Conv2D(3, 3, dilation_rate=2, activation="relu"), L.Conv2D(2, (1, 3), dilation_rate=(1, 2)),
                             L.GlobalMaxPooling2D(), L.Dense(2), **NUMBERS),
    "strided": lambda: stack((11, 9, 2), L.Conv2D(3, (3, 2), strides=(2, 3), padding="same"), L.MaxPooling2D(3, strides=1, padding="same"),
                             L.AveragePooling2D((2, 1)), L.Flatten(), L.Dense(2), **NUMBERS),
    "grouped": lambda: stack((6, 6, 4), L.Conv2D(4, 3, groups=2, activation="relu"), L.Flatten(), L.Dense(2), **NUMBERS),
    "mobile": lambda: stack((8, 8, 3), L.DepthwiseConv2D(3, padding="same", use_bias=False), L.BatchNormalization(), L.ReLU(6.0),
                            L.Conv2D(6, 1), L.BatchNormalization(), L.ReLU(6.0), L.GlobalAveragePooling2D(), L.Dense(3, "softmax"), **CLASSES),
    "separable": lambda: stack((8, 8, 3), L.SeparableConv2D(4, 3, depth_multiplier=2, activation="relu"), L.Flatten(), L.Dense(3, "softmax"), **CLASSES),
    "zero_padding": lambda: stack((5, 5, 1), L.ZeroPadding2D(((1, 2), (0, 1))), L.Conv2D(2, 3), L.ZeroPadding2D((1, 0)), L.Flatten(), L.Dense(1), **NUMBERS),
    "keepdims": lambda: stack((6, 6, 2), L.Conv2D(3, 3), L.GlobalAveragePooling2D(keepdims=True), L.Flatten(), L.Dense(1), **NUMBERS),
    "batch_norm": lambda: stack((6, 6, 2), L.Conv2D(3, 3), L.BatchNormalization(momentum=0.9, epsilon=1e-5, center=False), L.Flatten(), L.Dense(1), **NUMBERS),
    "layer_norm": lambda: stack((6, 4), L.LayerNormalization(epsilon=1e-6), L.Dense(3), L.LayerNormalization(scale=False), L.Flatten(), L.Dense(1), **NUMBERS),
    "layer_norm_rms": lambda: stack((6,), L.LayerNormalization(rms_scaling=True), L.Dense(1), **NUMBERS),
    "conv_on_batch_axis": lambda: stack((6, 6, 2), L.BatchNormalization(axis=-1), L.BatchNormalization(axis=3), L.Flatten(), L.Dense(1), **NUMBERS),
    # sequences and words
    "lstm": unstacked_lstm,
    "gru": lambda: stack((7, 3), L.GRU(5, reset_after=True), L.Dense(1), **NUMBERS),
    "gru_before": lambda: stack((7, 3), L.GRU(5, reset_after=False, activation="relu"), L.Dense(1), **NUMBERS),
    "simple_rnn": lambda: stack((7, 3), L.SimpleRNN(5, return_sequences=True, recurrent_dropout=0.1), L.SimpleRNN(4), L.Dense(1), **NUMBERS),
    "backwards": lambda: stack((7, 3), L.LSTM(5, go_backwards=True), L.Dense(1), **NUMBERS),
    "lstm_no_forget_bias": lambda: stack((7, 3), L.LSTM(5, unit_forget_bias=False, use_bias=True, implementation=1), L.Dense(1), **NUMBERS),
    "stateful": lambda: stack((7, 3), L.LSTM(5, unroll=True), L.Dense(1), **NUMBERS),
    "embedding": lambda: stack((9,), L.Embedding(30, 6), L.GlobalAveragePooling1D(), L.Dense(16, "relu"), L.Dense(1, "sigmoid"), whole=30, **BINARY),
    "embedding_flat": lambda: stack((9,), L.Embedding(30, 6, embeddings_regularizer="l2"), L.Flatten(), L.Dense(1, "sigmoid"), whole=30, **BINARY),
    "text_cnn": lambda: stack((20,), L.Embedding(50, 8), L.Conv1D(6, 5, activation="relu"), L.MaxPooling1D(2), L.Conv1D(4, 3, padding="same"),
                              L.GlobalMaxPooling1D(), L.Dense(2, "softmax"), whole=50, **CLASSES),
    "causal": lambda: stack((12, 2), L.Conv1D(4, 3, padding="causal", dilation_rate=2), L.AveragePooling1D(2), L.Flatten(), L.Dense(1), **NUMBERS),
    "embedding_lstm": lambda: stack((9,), L.Embedding(30, 6), L.LSTM(4), L.Dense(1, "sigmoid"), whole=30, **BINARY),
    # dropout and noise
    "dropouts": lambda: stack((6,), L.Dropout(0.2, seed=3), L.Dense(5, "relu"), L.Dropout(0.0), L.GaussianNoise(0.2), L.Dense(1), **NUMBERS),
    "functional_dropout": lambda: chain((6,), L.Dense(5, "relu"), L.Dropout(0.4), L.BatchNormalization(), L.GaussianNoise(0.1), L.Dense(1), **NUMBERS),
    "training_false": lambda: chain((6,), L.Dense(5, "relu"), L.Dropout(0.4), L.Dense(1), call={1: {"training": False}}, **NUMBERS),
    "training_false_norm": lambda: chain((6,), L.Dense(5, "relu"), L.BatchNormalization(), L.Dense(1), call={1: {"training": False}}, **NUMBERS),
    "training_true": lambda: chain((6,), L.Dense(5, "relu"), L.Dropout(0.4), L.Dense(1), call={1: {"training": True}}, **NUMBERS),
    "lstm_functional": lambda: chain((7, 3), L.LSTM(4, return_sequences=True), L.GRU(3), L.Dense(1), **NUMBERS),
    "alpha_dropout": lambda: stack((6,), L.Dense(5, "selu", kernel_initializer="lecun_normal"), L.AlphaDropout(0.1), L.Dense(1), **NUMBERS),
    # chains and models in models
    "functional_chain": lambda: chain((8, 8, 1), L.Conv2D(3, 3), L.BatchNormalization(), L.ReLU(), L.MaxPooling2D(), L.Flatten(), L.Dense(2, "softmax"), **CLASSES),
    "deep_nested": deep_nested,
    "frozen_nested": frozen_nested,
    "autoencoder": autoencoder,
    "functional_in_sequential": lambda: stack((6,), chain((6,), L.Dense(4, "relu"), L.Dropout(0.1)), L.Dense(1), **NUMBERS),
    "sequential_in_functional": lambda: chain((6,), keras.Sequential([L.Dense(4, "relu"), L.Dense(3)]), L.Dense(1), **NUMBERS),
    # compile: optimisers, losses, metrics
    "sgd_decay": lambda: stack((4,), L.Dense(1), optimizer=O.SGD(schedule("InverseTimeDecay", 0.1, 10, 0.5)), **NUMBERS),
    "exponential": lambda: stack((4,), L.Dense(1), optimizer=O.Adam(schedule("ExponentialDecay", 0.01, 100, 0.9)), **NUMBERS),
    "cosine": lambda: stack((4,), L.Dense(1), optimizer=O.Adam(schedule("CosineDecay", 0.01, 100)), **NUMBERS),
    "piecewise": lambda: stack((4,), L.Dense(1), optimizer=O.SGD(schedule("PiecewiseConstantDecay", [10, 20], [0.1, 0.01, 0.001])), **NUMBERS),
    "adamax": lambda: stack((4,), L.Dense(1), optimizer=O.Adamax(0.002, beta_1=0.8), loss="mae"),
    "nadam": lambda: stack((4,), L.Dense(1), optimizer=O.Nadam(0.002, clipnorm=1.0), loss="mape", metrics=["mse"]),
    "adagrad": lambda: stack((4,), L.Dense(1), optimizer=O.Adagrad(0.1, initial_accumulator_value=0.2), loss="msle"),
    "ftrl": lambda: stack((4,), L.Dense(1, "sigmoid"), optimizer=O.Ftrl(0.1, l1_regularization_strength=0.01), loss="hinge", metrics=["binary_accuracy"]),
    "rmsprop": lambda: stack((4,), L.Dense(1), optimizer=O.RMSprop(0.01, rho=0.8, momentum=0.5, centered=True), loss="logcosh" if MAJOR < 3 else "log_cosh"),
    "amsgrad": lambda: stack((4,), L.Dense(1), optimizer=O.Adam(0.01, amsgrad=True, epsilon=1e-4), loss="huber" if MAJOR >= 3 else "huber_loss"),
    "adamw": lambda: stack((4,), L.Dense(1), optimizer=O.AdamW(0.01), **NUMBERS),
    "global_clip": lambda: stack((4,), L.Dense(1), optimizer=O.Adam(global_clipnorm=1.0), **NUMBERS),
    "old_clipped": old_clipped,
    "loss_object": lambda: stack((4,), L.Dense(3, "softmax"), optimizer=O.Adam(), loss=keras.losses.SparseCategoricalCrossentropy(),
                                 metrics=[M.SparseCategoricalAccuracy()]),
    "from_logits": lambda: stack((4,), L.Dense(8, "relu"), L.Dense(3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]),
    "binary_logits": lambda: stack((4,), L.Dense(8, "relu"), L.Dense(1), loss=keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"]),
    "smoothing": lambda: stack((4,), L.Dense(3, "softmax"), loss=keras.losses.CategoricalCrossentropy(label_smoothing=0.1), metrics=["accuracy"]),
    "kld": lambda: stack((4,), L.Dense(3, "softmax"), loss="kl_divergence", metrics=["cosine_similarity"]),
    "poisson": lambda: stack((4,), L.Dense(1, "exponential"), loss="poisson", metrics=["mse", "mae", "mape"]),
    "top_k": subclassed_metric_names,
    "auc": lambda: stack((4,), L.Dense(1, "sigmoid"), loss="binary_crossentropy", metrics=[M.AUC(), M.Precision(), M.Recall()]),
    "auc_pr": lambda: stack((4,), L.Dense(1, "sigmoid"), loss="binary_crossentropy", metrics=["accuracy", M.AUC(curve="PR", name="prc")]),
    "auc_pr_first": lambda: stack((4,), L.Dense(1, "sigmoid"), loss="binary_crossentropy", metrics=[M.AUC(curve="PR"), "accuracy"]),
    "thresholds": lambda: stack((4,), L.Dense(1, "sigmoid"), loss="binary_crossentropy", metrics=[M.Precision(thresholds=0.7), M.Recall(class_id=0)]),
    "steps_per_execution": lambda: stack((4,), L.Dense(1), steps_per_execution=4, run_eagerly=False, **NUMBERS),
    # layers with weights or settings of their own
    "masking": lambda: stack((6, 3), L.Masking(0.0), L.LSTM(4), L.Dense(1), **NUMBERS),
    "mask_zero": lambda: stack((9,), L.Embedding(30, 6, mask_zero=True), L.LSTM(4), L.Dense(1, "sigmoid"), whole=30, **BINARY),
    "functional_mask_zero": lambda: chain((9,), L.Embedding(30, 6, mask_zero=True), L.Bidirectional(L.LSTM(4, return_sequences=True)), L.GRU(3),
                                          L.Dense(1, "sigmoid"), whole=30, **BINARY),
    "functional_masking": lambda: chain((6, 3), L.Masking(0.0), L.Dropout(0.1), L.LSTM(4), L.Dense(1), **NUMBERS),
    "bidirectional": lambda: stack((6, 3), L.Bidirectional(L.LSTM(4, return_sequences=True)), L.Bidirectional(L.GRU(3), merge_mode="sum"), L.Dense(1), **NUMBERS),
    "bidirectional_words": lambda: stack((9,), L.Embedding(30, 6), L.Bidirectional(L.LSTM(4)), L.Dense(8, "relu"), L.Dense(1, "sigmoid"), whole=30, **BINARY),
    "time_distributed": lambda: stack((6, 3), L.LSTM(4, return_sequences=True), L.TimeDistributed(L.Dense(2, "relu")), L.Flatten(), L.Dense(1), **NUMBERS),
    "encoder_decoder": lambda: stack((6, 3), L.LSTM(4), L.RepeatVector(5), L.LSTM(4, return_sequences=True), L.TimeDistributed(L.Dense(2)), **NUMBERS),
    "permute": lambda: stack((6, 3), L.Permute((2, 1)), L.Dense(4), L.Flatten(), L.Dense(1), **NUMBERS),
    "spatial_dropout": lambda: stack((9,), L.Embedding(30, 6), L.SpatialDropout1D(0.2), L.Conv1D(4, 3), L.GlobalMaxPooling1D(), L.Dense(1), whole=30, **NUMBERS),
    "spatial_dropout_2d": lambda: stack((8, 8, 2), L.Conv2D(3, 3), L.SpatialDropout2D(0.2), L.GaussianDropout(0.1), L.Flatten(), L.Dense(1), **NUMBERS),
    "rescaling": lambda: stack((8, 8, 3), L.Rescaling(1 / 127.5, offset=-1), L.Conv2D(3, 3, activation="relu"), L.Flatten(), L.Dense(3, "softmax"), **CLASSES),
    "normalization": lambda: stack((5,), adapted(L.Normalization(), (5,)), L.Dense(4, "relu"), L.Dense(1), **NUMBERS),
    "prelu": lambda: stack((6, 6, 2), L.Conv2D(3, 3), L.PReLU(shared_axes=[1, 2]), L.Flatten(), L.Dense(4), L.PReLU(), L.Dense(1), **NUMBERS),
    "up_sampling": lambda: stack((4, 4, 2), L.Conv2D(3, 3, padding="same"), L.UpSampling2D(2), L.UpSampling2D((1, 2), interpolation="bilinear"),
                                 L.Conv2D(1, 3), L.Flatten(), L.Dense(1), **NUMBERS),
    "transposed": lambda: stack((10,), L.Dense(4 * 4 * 2), L.Reshape((4, 4, 2)), L.Conv2DTranspose(3, 3, strides=2, padding="same", activation="relu"),
                                L.Conv2DTranspose(1, 3, activation="sigmoid"), **NUMBERS),
    "constraints": lambda: stack((6,), L.Dense(5, "relu", kernel_constraint=constraint("MaxNorm", 3)),
                                 L.Dense(4, kernel_constraint=constraint("NonNeg"), bias_constraint=constraint("UnitNorm")),
                                 L.Dense(1, kernel_constraint=constraint("MinMaxNorm", 0.1, 2.0)), **NUMBERS),
    "branches": branches,
    "residual": residual,
    "two_outputs": two_outputs,
    "lambda": lambda: stack((4,), L.Lambda(lambda x: 2 * x), L.Dense(1), **NUMBERS),
    "conv_3d": lambda: stack((6, 6, 6, 2), L.Conv3D(2, 3), L.Flatten(), L.Dense(1), **NUMBERS),
    "zero_padding_1d": lambda: stack((6, 2), L.ZeroPadding1D(1), L.Conv1D(2, 3), L.Flatten(), L.Dense(1), **NUMBERS),
    "cropping": lambda: stack((6, 6, 2), L.Cropping2D(1), L.Flatten(), L.Dense(1), **NUMBERS),
    "group_norm": lambda: stack((6, 6, 4), L.GroupNormalization(2), L.Flatten(), L.Dense(1), **NUMBERS),
}


def save(model, folder, name):
    """[file, file with its weights or null] for each way of saving that this Keras has."""
    saved = [[file, None] for file in keras_models.save_whole(model, folder, name)]
    text = folder / (name + ".json")
    try:
        text.write_text(model.to_json(), encoding="utf-8")
    except Exception as error:
        print(f"{text.name}: not written by Keras: {str(error).splitlines()[0]}", file=sys.stderr)
        return saved
    for suffix in (".weights.h5", "_weights.h5"):
        path = folder / (name + suffix)
        if MAJOR >= 3 and suffix == "_weights.h5":
            continue  # Keras 3 has the other layout alone
        try:
            model.save_weights(path)
            saved.append([text.name, path.name])
        except Exception as error:
            print(f"{path.name}: not written by Keras: {str(error).splitlines()[0]}", file=sys.stderr)
    return saved


def write(folder, only):
    folder.mkdir(parents=True, exist_ok=True)
    version = getattr(keras, "__version__", None) or __import__("tensorflow").__version__
    cases = []
    for seed, (name, make) in enumerate(ODD.items()):
        if only and name not in only:
            continue
        keras.backend.clear_session()
        numpy.random.seed(seed)
        try:
            model = make()
        except Exception as error:
            print(f"{name}: this Keras cannot build it: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        keras_models.randomise(model, seed)
        for layer in model.layers:
            if isinstance(layer, L.Normalization):
                layer.finalize_state()  # takes what was set
        rows = keras_models.rows_for(model, seed, model.whole)
        outputs = model.predict(rows, verbose=0)
        numpy.save(folder / f"{name}.x.npy", rows)
        if not isinstance(outputs, list):
            numpy.save(folder / f"{name}.y.npy", numpy.asarray(outputs, "float32"))
        cases.append({"name": name, "beyond": name in BEYOND, "files": save(model, folder, name)})
    (folder / "cases.json").write_text(json.dumps({"version": version, "cases": cases}, indent=1))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), sys.argv[2:])
