import numpy as np
import tensorflow as tf
from sklearn.utils import class_weight
from tensorflow import keras

METRICS = [
    keras.metrics.BinaryAccuracy(name='accuracy'),
    keras.metrics.Precision(name='precision'),
    keras.metrics.Recall(name='recall'),
    keras.metrics.AUC(name='auc'),
]

rng = np.random.RandomState(4)
features = rng.normal(size=(500, 10))
labels = (features[:, 0] + 0.5 * features[:, 3] > 1.4).astype(int)
neg, pos = np.bincount(labels)
total = neg + pos
print('Examples:\n    Total: {}\n    Positive: {} ({:.2f}% of total)\n'.format(total, pos, 100 * pos / total))

train_features, val_features = features[:400], features[400:]
train_labels, val_labels = labels[:400], labels[400:]


def make_model(metrics=METRICS, output_bias=None):
    if output_bias is not None:
        output_bias = tf.keras.initializers.Constant(output_bias)
    model = keras.Sequential([
        keras.layers.Dense(16, activation='relu', input_shape=(train_features.shape[-1],)),
        keras.layers.Dropout(0.5),
        keras.layers.Dense(1, activation='sigmoid', bias_initializer=output_bias),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=1e-3),
        loss=keras.losses.BinaryCrossentropy(),
        metrics=metrics)
    return model


EPOCHS = 10
BATCH_SIZE = 64

initial_bias = np.log([pos / neg])
weights = class_weight.compute_class_weight(class_weight='balanced', classes=np.unique(train_labels), y=train_labels)
class_weights = dict(enumerate(weights))

early_stopping = tf.keras.callbacks.EarlyStopping(
    monitor='val_loss', verbose=1, patience=10, mode='min', restore_best_weights=True)

model = make_model(output_bias=float(initial_bias[0]))
baseline_history = model.fit(
    train_features,
    train_labels,
    batch_size=BATCH_SIZE,
    epochs=EPOCHS,
    callbacks=[early_stopping],
    validation_data=(val_features, val_labels),
    class_weight=class_weights,
    verbose=0)
