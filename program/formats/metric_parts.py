# The metrics that scripts can't leave to their library, as training/metrics.h has them: of all rows at once, in double
# precision. A script gets the parts whose names it, or another of its parts, mentions.

# part: metric_pair
def metric_pair(y, o):
    """Targets and outputs; Keras drops a last dimension of 1 that only one side has."""
    y, o = np.asarray(y, np.float64), np.asarray(o, np.float64)
    y = y[:, None] if y.ndim == 1 else y
    if o.ndim == y.ndim + 1 and o.shape[-1] == 1:
        o = o[..., 0]
    elif y.ndim == o.ndim + 1 and y.shape[-1] == 1:
        y = y[..., 0]
    return y, o


# part: metric_classes
def metric_classes(y, o):
    """The class of each row and the one that the outputs give: by the threshold 0.5, or the first maximum."""
    y, o = np.asarray(y), np.asarray(o)
    if o.shape[-1] == 1:
        y, o = np.broadcast_arrays(*metric_pair(y, o))
        return (y > 0.5).ravel(), (o > 0.5).ravel()
    best = np.where(np.isnan(o), -np.inf, o).argmax(-1).ravel()
    labels = y.ndim < o.ndim or y.shape[-1] == 1
    return (np.trunc(y) if labels else y.argmax(-1)).ravel(), best


# part: metric_clipped
def metric_clipped(p):
    return np.clip(p, np.float32(1e-7), 1 - np.float32(1e-7))


# part: metric_signed
def metric_signed(y):
    return 2 * y - 1 if np.isin(y, (0, 1)).all() else y


# part: metric_above
def metric_above(o, label):
    """How many scores of each row are above the label's; infinitely many where not all are finite."""
    o = o.reshape(-1, o.shape[-1])
    label = label.astype(int).ravel()
    inside = (label >= 0) & (label < o.shape[-1])
    own = np.take_along_axis(o, np.where(inside, label, 0)[:, None], -1)
    return np.where(inside & np.isfinite(o).all(-1), (o > own).sum(-1), np.inf)


# part: metric_mae
def metric_mae(y, o):
    y, o = metric_pair(y, o)
    return np.abs(o - y).mean()


# part: metric_mse
def metric_mse(y, o):
    y, o = metric_pair(y, o)
    return np.square(o - y).mean()


# part: metric_rmse
def metric_rmse(y, o):
    return np.sqrt(metric_mse(y, o))


# part: metric_mean_absolute_percentage_error
def metric_mean_absolute_percentage_error(y, o):
    y, o = metric_pair(y, o)
    return 100 * np.abs((y - o) / np.maximum(np.abs(y), 1e-7)).mean()


# part: metric_mean_squared_logarithmic_error
def metric_mean_squared_logarithmic_error(y, o):
    y, o = metric_pair(y, o)
    return np.square(np.log(np.maximum(o, 1e-7) + 1) - np.log(np.maximum(y, 1e-7) + 1)).mean()


# part: metric_logcosh
def metric_logcosh(y, o):
    y, o = metric_pair(y, o)
    d = np.abs(o - y)
    return (d + np.log1p(np.exp(-2 * d)) - np.log(2)).mean()


# part: metric_huber
def metric_huber(y, o):
    y, o = metric_pair(y, o)
    d = np.abs(o - y)
    return np.where(d <= 1, 0.5 * d * d, d - 0.5).mean()


# part: metric_poisson
def metric_poisson(y, o):
    y, o = metric_pair(y, o)
    return (o - y * np.log(o + 1e-7)).mean()


# part: metric_hinge
def metric_hinge(y, o):
    y, o = metric_pair(y, o)
    return np.maximum(1 - metric_signed(y) * o, 0).mean()


# part: metric_squared_hinge
def metric_squared_hinge(y, o):
    y, o = metric_pair(y, o)
    return np.square(np.maximum(1 - metric_signed(y) * o, 0)).mean()


# part: metric_categorical_hinge
def metric_categorical_hinge(y, o):
    y, o = metric_pair(y, o)
    return np.maximum(((1 - y) * o).max(-1) - (y * o).sum(-1) + 1, 0).mean()


# part: metric_binary_crossentropy
def metric_binary_crossentropy(y, o, from_logits=False):
    y, o = metric_pair(y, o)
    if from_logits:
        return (np.maximum(o, 0) - o * y + np.log1p(np.exp(-np.abs(o)))).mean()
    p = metric_clipped(o)
    return -(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7)).mean()


# part: metric_categorical_crossentropy
def metric_categorical_crossentropy(y, o, from_logits=False):
    y, o = metric_pair(y, o)
    if from_logits:
        return (y * (np.logaddexp.reduce(o, -1, keepdims=True) - o)).sum(-1).mean()
    return -(y * np.log(metric_clipped(o / o.sum(-1, keepdims=True)))).sum(-1).mean()


# part: metric_sparse_categorical_crossentropy
def metric_sparse_categorical_crossentropy(y, o, from_logits=False):
    o = np.asarray(o, np.float64).reshape(-1, np.shape(o)[-1])
    z = o if from_logits else np.log(metric_clipped(o))
    own = np.take_along_axis(z, np.asarray(y).astype(int).reshape(-1, 1), -1)[:, 0]
    return (np.logaddexp.reduce(z, -1) - own).mean()


# part: metric_kullback_leibler_divergence
def metric_kullback_leibler_divergence(y, o):
    y, o = (np.clip(one, 1e-7, 1) for one in metric_pair(y, o))
    return (y * np.log(y / o)).sum(-1).mean()


# part: metric_cosine_similarity
def metric_cosine_similarity(y, o):
    y, o = (one / np.sqrt(np.maximum(np.square(one).sum(-1, keepdims=True), 1e-12)) for one in metric_pair(y, o))
    return (y * o).sum(-1).mean()


# part: metric_accuracy
def metric_accuracy(y, o):
    y, best = metric_classes(y, o)
    return (y == best).mean()


# part: metric_binary_accuracy
def metric_binary_accuracy(y, o, threshold=0.5):
    y, o = metric_pair(y, o)
    return ((o > threshold) == y).mean()


# part: metric_categorical_accuracy
def metric_categorical_accuracy(y, o):
    best = np.where(np.isnan(o), -np.inf, o).argmax(-1)
    return (np.asarray(y).argmax(-1).ravel() == best.ravel()).mean()


# part: metric_sparse_categorical_accuracy
def metric_sparse_categorical_accuracy(y, o):
    return (np.where(np.isnan(o), -np.inf, o).argmax(-1).ravel() == np.ravel(y)).mean()


# part: metric_top_k_categorical_accuracy
def metric_top_k_categorical_accuracy(y, o, k=5):
    return (metric_above(np.asarray(o), np.asarray(y).argmax(-1)) < k).mean()


# part: metric_sparse_top_k_categorical_accuracy
def metric_sparse_top_k_categorical_accuracy(y, o, k=5):
    return (metric_above(np.asarray(o), np.asarray(y)) < k).mean()


# part: metric_Precision
def metric_Precision(y, o):
    y, o = (one > 0.5 for one in np.broadcast_arrays(*metric_pair(y, o)))
    return (y & o).sum() / max(o.sum(), 1)


# part: metric_Recall
def metric_Recall(y, o):
    y, o = (one > 0.5 for one in np.broadcast_arrays(*metric_pair(y, o)))
    return (y & o).sum() / max(y.sum(), 1)


# part: metric_macro_f1
def metric_macro_f1(y, o):
    y, best = metric_classes(y, o)
    named = np.union1d(y, best)
    return np.mean([2 * ((y == c) & (best == c)).sum() / ((y == c).sum() + (best == c).sum()) for c in named])


# part: metric_AUC
def metric_AUC(y, o):
    y, o = np.asarray(y), np.asarray(o, np.float64)
    if o.shape[-1] == 1:
        y, o = np.broadcast_arrays(*metric_pair(y, o))
        pairs = [((y > 0.5).ravel(), o.ravel())]
    else:
        labels = y.ndim < o.ndim or y.shape[-1] == 1
        o = o.reshape(-1, o.shape[-1])
        y = np.trunc(y).reshape(-1, 1) == np.arange(o.shape[-1]) if labels else y.reshape(o.shape) > 0.5
        pairs = list(zip(y.T, o.T))
    areas = []
    for positive, scores in pairs:
        if np.isnan(scores).any():
            return np.nan
        low, high = np.sort(scores[~positive]), scores[positive]
        if len(low) and len(high):
            below = np.searchsorted(low, high, "left") + np.searchsorted(low, high, "right")
            areas.append(below.sum() / 2 / len(low) / len(high))
    return np.mean(areas) if areas else np.nan


# part: metric_r2
def metric_r2(y, o):
    y, o = (one.reshape(len(one), -1) for one in np.broadcast_arrays(*metric_pair(y, o)))
    around_mean, around_output = np.square(y - y.mean(0)).sum(0), np.square(y - o).sum(0)
    varies = (y != y[0]).any(0) | np.isnan(around_output)
    return np.where(varies, 1 - around_output / np.where(varies, around_mean, 1), around_output == 0).mean()
