# What scripts for PyTorch need of Keras's semantics (tf.keras 2.4; docs/methods/training.md). A script gets the parts
# whose names it, or another of its parts, mentions. Those of the forward pass are TorchScript, too.

# part: dense
def dense(x, kernel, bias: Optional[Tensor]):
    """Along the last axis."""
    y = torch.matmul(x, kernel)
    return y if bias is None else y + bias


# part: merged
def merged(xs: List[Tensor], how: str):
    """One after the other. Missing axes are behind the batch; of equal values the first has the gradient."""
    rank = max([x.dim() for x in xs])
    y = xs[0]
    for i, x in enumerate(xs):
        while x.dim() < rank:
            x = x.unsqueeze(1)
        if i == 0:
            y = x
        elif how == "add" or how == "average":
            y = y + x
        elif how == "subtract":
            y = y - x
        elif how == "multiply":
            y = y * x
        elif how == "maximum":
            y = torch.where((y >= x) | (y != y), y, x)
        else:
            y = torch.where((y <= x) | (y != y), y, x)
    return y / len(xs) if how == "average" else y


# part: concatenated
def concatenated(xs: List[Tensor], axis: int):
    return torch.cat(xs, axis)


# part: conv_2d
def conv_2d(x, kernel, bias: Optional[Tensor], strides: List[int], padding: List[int], dilation: List[int], groups: int):
    """Images (rows, height, width, channels), kernel (height, width, channels of a group, filters)."""
    x = torch.constant_pad_nd(x, [0, 0, padding[2], padding[3], padding[0], padding[1]])
    x = x.permute([0, 3, 1, 2])
    y = torch.conv2d(x, kernel.permute([3, 2, 0, 1]), bias, strides, [0, 0], dilation, groups)
    return y.permute([0, 2, 3, 1])


# part: conv_2d_transpose
def conv_2d_transpose(x, kernel, bias: Optional[Tensor], strides: List[int], dilation: List[int], padding: List[int],
                      extents: List[int]):
    """Kernel (height, width, filters, channels). `padding`: rows and columns cut off before the first; `extents`: what
    is left of the image, with zeros where no window reaches."""
    x = x.permute([0, 3, 1, 2])
    y = torch.conv_transpose2d(x, kernel.permute([3, 2, 0, 1]), None, strides, [0, 0], [0, 0], 1, dilation)
    y = y.permute([0, 2, 3, 1])
    y = torch.constant_pad_nd(y, [0, 0, -padding[1], extents[1] + padding[1] - y.size(2),
                                  -padding[0], extents[0] + padding[0] - y.size(1)])
    return y if bias is None else y + bias


# part: up_sampling_2d
def up_sampling_2d(x, size: List[int], bilinear: bool):
    """Cells several times, or by how near the centres of two neighbours are along each axis."""
    for axis in range(2):
        extent = x.size(axis + 1)
        if bilinear:
            at = torch.clamp((torch.arange(extent * size[axis]) + 0.5) / size[axis] - 0.5, min=0.0)
            first = torch.floor(at)
            share = (at - first).reshape([-1, 1, 1] if axis == 0 else [-1, 1])
            low = x.index_select(axis + 1, first.long())
            x = low + (x.index_select(axis + 1, torch.clamp(first.long() + 1, max=extent - 1)) - low) * share
        else:
            x = torch.repeat_interleave(x, size[axis], axis + 1)
    return x


# part: rescaling
def rescaling(x, scale, offset):
    return x * scale + offset


# part: normalization
def normalization(x, mean, variance, extents: List[int], invert: bool):
    """`extents`: of the statistics where they meet a row."""
    mean = mean.reshape([1] + extents)
    deviation = torch.clamp(torch.sqrt(variance.reshape([1] + extents)), min=1e-7)
    return mean + x * deviation if invert else (x - mean) / deviation


# part: prelu
def prelu(x, alpha):
    return torch.relu(x) - alpha * torch.relu(-x)


# part: max_pool_2d
def max_pool_2d(x, window: List[int], strides: List[int], padding: List[int]):
    """Cells outside of the image never win."""
    x = torch.constant_pad_nd(x, [0, 0, padding[2], padding[3], padding[0], padding[1]], -3.4028234663852886e38)
    return torch.max_pool2d(x.permute([0, 3, 1, 2]), window, strides).permute([0, 2, 3, 1])


# part: average_pool_2d
def average_pool_2d(x, window: List[int], strides: List[int], padding: List[int]):
    """Over the cells within the image."""
    pad = [0, 0, padding[2], padding[3], padding[0], padding[1]]
    cells = torch.constant_pad_nd(torch.ones_like(x), pad)
    y = torch.constant_pad_nd(x, pad)
    y = y.unfold(1, window[0], strides[0]).unfold(2, window[1], strides[1])
    cells = cells.unfold(1, window[0], strides[0]).unfold(2, window[1], strides[1])
    return y.sum([4, 5]) / cells.sum([4, 5])


# part: global_max_pool_2d
def global_max_pool_2d(x):
    return torch.amax(x, [1, 2])


# part: global_average_pool_2d
def global_average_pool_2d(x):
    return torch.mean(x, [1, 2])


# part: zero_pad_2d
def zero_pad_2d(x, padding: List[int]):
    return torch.constant_pad_nd(x, [0, 0, padding[2], padding[3], padding[0], padding[1]])


# part: reshape
def reshape(x, extents: List[int]):
    """Extents of a row."""
    return x.reshape([x.size(0)] + extents)


# part: dropout
def dropout(x, rate: float, training: bool):
    if not training or rate == 0:
        return x
    return x * (torch.rand_like(x) >= rate) / (1 - rate)


# part: spatial_dropout
def spatial_dropout(x, rate: float, training: bool):
    """Whole channels."""
    if not training or rate == 0:
        return x
    cell = x.select(1, 0).unsqueeze(1)
    if x.dim() == 4:
        cell = cell.select(2, 0).unsqueeze(2)
    return x * (torch.rand_like(cell) >= rate) / (1 - rate)


# part: gaussian_dropout
def gaussian_dropout(x, rate: float, training: bool):
    """Normal factors of mean 1 and variance rate / (1 - rate)."""
    if not training or rate == 0:
        return x
    return x * (1 + torch.randn_like(x) * (rate / (1 - rate)) ** 0.5)


# part: permute
def permute(x, dims: List[int]):
    """Axes of a row, counted from 1."""
    return x.permute([0] + dims)


# part: repeat_vector
def repeat_vector(x, n: int):
    return x.unsqueeze(1).repeat([1, n, 1])


# part: regrouped
def regrouped(x, extents: List[int]):
    """As many rows of these extents as there are values for: all steps of a batch as rows, and back."""
    return x.reshape([-1] + extents)


# part: batch_normalization
def batch_normalization(x, gamma: Optional[Tensor], beta: Optional[Tensor], mean, variance, momentum: float,
                        epsilon: float, training: bool):
    """Over the last axis. In training it moves its averages, those of images by the sample variance, as TensorFlow's
    kernel for them does."""
    rows = x.reshape([-1, x.size(-1)])
    if training:
        m = torch.mean(rows, 0)
        v = torch.var(rows, 0, False)
        count = rows.size(0)
        sample = count / (count - 1.0) if x.dim() == 4 and count > 1 else 1.0
        mean.mul_(momentum).add_(m.detach() * (1 - momentum))
        variance.mul_(momentum).add_(v.detach() * (sample * (1 - momentum)))
    else:
        m = mean
        v = variance
    y = (rows - m) * torch.rsqrt(v + epsilon)
    if gamma is not None:
        y = y * gamma
    if beta is not None:
        y = y + beta
    return y.reshape(x.size())


# part: relu
def relu(x):
    return torch.relu(x)


# part: elu
def elu(x, alpha: float):
    return torch.where(x > 0, x, alpha * torch.expm1(torch.clamp(x, max=0.0)))


# part: selu
def selu(x):
    scale = 1.0507009873554805
    return torch.where(x < 0, scale * 1.6732632423543772 * torch.expm1(torch.clamp(x, max=0.0)), scale * x)


# part: softplus
def softplus(x):
    return torch.clamp(x, min=0.0) + torch.log1p(torch.exp(-torch.abs(x)))


# part: softsign
def softsign(x):
    return x / (torch.abs(x) + 1)


# part: swish
def swish(x):
    return x * torch.sigmoid(x)


# part: gelu
def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / 1.4142135623730951))


# part: tanh
def tanh(x):
    return torch.tanh(x)


# part: sigmoid
def sigmoid(x):
    return torch.sigmoid(x)


# part: exponential
def exponential(x):
    return torch.exp(x)


# part: hard_sigmoid
def hard_sigmoid(x):
    return torch.clamp(x * 0.2 + 0.5, 0.0, 1.0)


# part: softmax
def softmax(x):
    return torch.softmax(x, -1)


# part: leaky_relu
def leaky_relu(x, alpha: float):
    return torch.where(x > 0, x, alpha * x)


# part: general_relu
def general_relu(x, slope: float, threshold: float, most: Optional[float]):
    """The negative part is taken before threshold and maximum apply."""
    y = x * (x > threshold) if threshold != 0 else torch.relu(x)
    if most is not None:
        y = torch.clamp(y, 0.0, most)
    if slope != 0:
        y = y - slope * torch.relu(threshold - x)
    return y


# part: detach
def detach(x):
    """No gradient flows back."""
    return x.detach()


# part: activity
def activity(x, l1, l2):
    """An activity regulariser's share of the loss. Keras divides by the batch size."""
    penalties.append((l1 * x.abs().sum() + l2 * x.square().sum()) / len(x))
    return x


penalties = []


# part: constant
def constant(shape, value):
    return torch.full(shape, float(value))


# part: random_normal
def random_normal(shape, mean, stddev):
    return torch.randn(shape) * stddev + mean


# part: random_uniform
def random_uniform(shape, low, high):
    return torch.rand(shape) * (high - low) + low


# part: truncated_normal
def truncated_normal(shape, mean, stddev):
    """Cut off at two standard deviations, by the inverse of the normal distribution function."""
    tail = 0.5 * math.erfc(math.sqrt(2))
    p = torch.rand(shape, dtype=torch.float64) * (1 - 2 * tail) + tail
    return (torch.erfinv(2 * p - 1) * math.sqrt(2) * stddev + mean).float()


# part: variance_scaling
def variance_scaling(shape, scale, mode, distribution):
    """Variance scale / n, n by mode from the fans, which count a kernel's window."""
    window = math.prod(shape[:-2])
    fan_in = window * shape[-2] if len(shape) > 1 else shape[0]
    fan_out = window * shape[-1] if len(shape) > 1 else shape[0]
    n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
    variance = scale / max(1.0, n)
    if distribution == "uniform":
        limit = math.sqrt(3 * variance)
        return random_uniform(shape, -limit, limit)
    if distribution == "untruncated_normal":
        return random_normal(shape, 0.0, math.sqrt(variance))
    return truncated_normal(shape, 0.0, math.sqrt(variance) / 0.87962566103423978)


# part: orthogonal
def orthogonal(shape, gain):
    columns = shape[-1]
    rows = math.prod(shape[:-1])
    q, r = torch.linalg.qr(torch.randn(max(rows, columns), min(rows, columns)))
    q = q * torch.diagonal(r).sign()
    return gain * (q if rows >= columns else q.t()).reshape(shape)


# part: identity
def identity(shape, gain):
    return gain * torch.eye(shape[0], shape[1])


# part: squeezed
def squeezed(longer, shorter):
    """A last extent of 1 that only one side has is dropped."""
    return longer.squeeze(-1) if longer.dim() == shorter.dim() + 1 and longer.size(-1) == 1 else longer


# part: smoothed
def smoothed(y, share, binary):
    """Label smoothing: towards a half, or towards equal shares of all classes."""
    return y * (1 - share) + share / (2 if binary else y.size(-1))


# part: class_weights
def class_weights(y, weights):
    """Of each row: that of the largest of several targets, or of the target without its fraction."""
    y = y.reshape(len(y), -1)
    return weights[y.argmax(-1) if y.size(-1) > 1 else y[:, 0].long()]


# part: weighted
def weighted(values, weights):
    return values.reshape(len(weights), -1) * weights[:, None]


# part: non_neg
@torch.no_grad()
def non_neg(w):
    """A constraint: no weight below 0."""
    w.mul_(w >= 0)


# part: bounded_norm
@torch.no_grad()
def bounded_norm(w, least, most, rate, axes):
    """A constraint of the norms along these axes; `rate`: the share of the way into the bounds that a step goes."""
    norm = w.square().sum(axes, keepdim=True).sqrt()
    w.mul_((rate * norm.clamp(least, max(least, most)) + (1 - rate) * norm) / (norm + 1e-7))


# part: clipped
def clipped(p):
    return torch.clamp(p, 1e-7, 1 - 1e-7)


# part: signed_labels
def signed_labels(y):
    """Targets of 0 and 1 become -1 and 1, if the whole batch is made of them."""
    return 2 * y - 1 if bool(((y == 0) | (y == 1)).all()) else y


# part: unit
def unit(x):
    return x * torch.rsqrt(torch.clamp((x * x).sum(-1, keepdim=True), min=1e-12))


# part: mean_squared_error
def mean_squared_error(o, y):
    return torch.square(o - y).mean(-1)


# part: mean_absolute_error
def mean_absolute_error(o, y):
    return torch.abs(o - y).mean(-1)


# part: mean_absolute_percentage_error
def mean_absolute_percentage_error(o, y):
    return 100 * torch.abs((y - o) / torch.clamp(y.abs(), min=1e-7)).mean(-1)


# part: mean_squared_logarithmic_error
def mean_squared_logarithmic_error(o, y):
    return torch.square(
        torch.log(torch.clamp(o, min=1e-7) + 1) - torch.log(torch.clamp(y, min=1e-7) + 1)).mean(-1)


# part: hinge
def hinge(o, y):
    return torch.clamp(1 - signed_labels(y) * o, min=0).mean(-1)


# part: squared_hinge
def squared_hinge(o, y):
    return torch.square(torch.clamp(1 - signed_labels(y) * o, min=0)).mean(-1)


# part: categorical_hinge
def categorical_hinge(o, y):
    return torch.clamp(torch.amax((1 - y) * o, -1) - (y * o).sum(-1) + 1, min=0)


# part: logcosh
def logcosh(o, y):
    d = o - y
    return (d + softplus(-2 * d) - math.log(2)).mean(-1)


# part: huber
def huber(o, y):
    d = (o - y).abs()
    return torch.where(d <= 1, 0.5 * torch.square(d), d - 0.5).mean(-1)


# part: cosine_similarity
def cosine_similarity(o, y):
    return -(unit(y) * unit(o)).sum(-1)


# part: kullback_leibler_divergence
def kullback_leibler_divergence(o, y):
    t = torch.clamp(y, 1e-7, 1)
    return (t * torch.log(t / torch.clamp(o, 1e-7, 1))).sum(-1)


# part: poisson
def poisson(o, y):
    return (o - y * torch.log(o + 1e-7)).mean(-1)


# part: categorical_crossentropy
def categorical_crossentropy(o, y):
    return -(y * torch.log(clipped(o / o.sum(-1, keepdim=True)))).sum(-1)


# part: categorical_crossentropy_of_logits
def categorical_crossentropy_of_logits(z, y):
    """TensorFlow's gradient is that for targets that sum to one, also where they don't."""
    with torch.no_grad():
        value = -(y * torch.log_softmax(z, -1)).sum(-1)
    slope = torch.logsumexp(z, -1) - (y * z).sum(-1)
    return slope + (value - slope).detach()


# part: sparse_categorical_crossentropy
def sparse_categorical_crossentropy(o, y):
    """TensorFlow takes the logarithms of probabilities for logits."""
    return sparse_categorical_crossentropy_of_logits(torch.log(clipped(o)), y)


# part: sparse_categorical_crossentropy_of_logits
def sparse_categorical_crossentropy_of_logits(z, y):
    z = torch.log_softmax(z.reshape(-1, z.size(-1)), -1)
    return -z.gather(-1, y.reshape(-1, 1).long()).squeeze(-1)


# part: binary_crossentropy
def binary_crossentropy(o, y):
    p = clipped(o)
    return -(y * torch.log(p + 1e-7) + (1 - y) * torch.log(1 - p + 1e-7)).mean(-1)


# part: binary_crossentropy_of_logits
def binary_crossentropy_of_logits(z, y):
    return (torch.clamp(z, min=0) - z * y + torch.log1p(torch.exp(-z.abs()))).mean(-1)


# part: penalty
def penalty(regularized):
    """Of weights: l1 sum |w| + l2 sum w^2."""
    return sum(l1 * w.abs().sum() + l2 * w.square().sum() for w, l1, l2 in regularized)


# part: Optimizer
class Optimizer:
    """Keras's order: decayed rate, clipvalue, clipnorm (by variable), update. No limit: 0."""

    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue):
        self.parameters = parameters
        self.learning_rate, self.decay = learning_rate, decay
        self.clipnorm, self.clipvalue = clipnorm, clipvalue
        self.factor = 1.0  # of a schedule
        self.steps = 0
        self.states = {}

    def state(self, p, name, start=0.0):
        if (p, name) not in self.states:
            self.states[p, name] = torch.full_like(p, start)
        return self.states[p, name]

    def begin(self, t):
        """Before the updates of step t, from 1."""

    @torch.no_grad()
    def step(self):
        self.rate = self.learning_rate * self.factor / (1 + self.decay * self.steps)
        self.steps += 1
        self.begin(self.steps)
        for p in self.parameters:
            if p.grad is None:
                continue
            if self.clipvalue:
                p.grad.clamp_(-self.clipvalue, self.clipvalue)
            if self.clipnorm:
                p.grad.mul_(self.clipnorm / torch.clamp(torch.linalg.norm(p.grad), min=self.clipnorm))
            self.update(p, p.grad)


# part: SGD
class SGD(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, momentum, nesterov):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.momentum, self.nesterov = momentum, nesterov

    def update(self, p, g):
        if not self.momentum:
            p.sub_(self.rate * g)
            return
        a = self.state(p, "momentum")
        a.mul_(self.momentum).sub_(self.rate * g)
        p.add_(self.momentum * a - self.rate * g if self.nesterov else a)


# part: RMSprop
class RMSprop(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, rho, momentum, epsilon, centered):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def update(self, p, g):
        s = self.state(p, "square")
        s.mul_(self.rho).add_((1 - self.rho) * g * g)
        d = s
        if self.centered:
            m = self.state(p, "mean")
            m.mul_(self.rho).add_((1 - self.rho) * g)
            d = s - m * m
        if not self.momentum:
            p.sub_(self.rate * g / (d.sqrt() + self.epsilon))
            return
        b = self.state(p, "momentum")
        b.mul_(self.momentum).add_(self.rate * g / (d + self.epsilon).sqrt())
        p.sub_(b)


# part: Adagrad
class Adagrad(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, initial_accumulator_value, epsilon):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.start, self.epsilon = initial_accumulator_value, epsilon

    def update(self, p, g):
        a = self.state(p, "square", self.start)
        a.add_(g * g)
        p.sub_(self.rate * g / (a.sqrt() + self.epsilon))


# part: Adadelta
class Adadelta(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, rho, epsilon):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.rho, self.epsilon = rho, epsilon

    def update(self, p, g):
        a, d = self.state(p, "gradient"), self.state(p, "step")
        a.mul_(self.rho).add_((1 - self.rho) * g * g)
        u = (d + self.epsilon).sqrt() / (a + self.epsilon).sqrt() * g
        p.sub_(self.rate * u)
        d.mul_(self.rho).add_((1 - self.rho) * u * u)


# part: Adam
class Adam(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, beta_1, beta_2, epsilon, amsgrad):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.beta_1, self.beta_2, self.epsilon, self.amsgrad = beta_1, beta_2, epsilon, amsgrad

    def begin(self, t):
        self.rate *= math.sqrt(1 - self.beta_2**t) / (1 - self.beta_1**t)

    def update(self, p, g):
        m, v = self.state(p, "mean"), self.state(p, "square")
        m.add_((1 - self.beta_1) * (g - m))
        v.add_((1 - self.beta_2) * (g * g - v))
        if self.amsgrad:
            top = self.state(p, "top")
            top.copy_(torch.maximum(top, v))
            v = top
        p.sub_(self.rate * m / (v.sqrt() + self.epsilon))


# part: Adamax
class Adamax(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, beta_1, beta_2, epsilon):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def begin(self, t):
        self.rate /= 1 - self.beta_1**t

    def update(self, p, g):
        m, v = self.state(p, "mean"), self.state(p, "top")
        m.add_((1 - self.beta_1) * (g - m))
        v.copy_(torch.maximum(self.beta_2 * v, g.abs()))
        p.sub_(self.rate * m / (v + self.epsilon))


# part: Nadam
class Nadam(Optimizer):
    """With Keras's schedule of momentum. It has no decay."""

    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, beta_1, beta_2, epsilon, schedule_decay):
        super().__init__(parameters, learning_rate, 0, clipnorm, clipvalue)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.schedule_decay, self.product = schedule_decay, 1.0

    def schedule(self, t):
        return self.beta_1 * (1 - 0.5 * 0.96 ** (self.schedule_decay * t))

    def begin(self, t):
        self.now, self.next = self.schedule(t), self.schedule(t + 1)
        self.product *= self.now

    def update(self, p, g):
        m, v = self.state(p, "mean"), self.state(p, "square")
        m.mul_(self.beta_1).add_((1 - self.beta_1) * g)
        v.mul_(self.beta_2).add_((1 - self.beta_2) * g * g)
        bar = (1 - self.now) * g / (1 - self.product) + self.next * m / (1 - self.product * self.next)
        p.sub_(self.rate * bar / ((v / (1 - self.beta_2**self.steps)).sqrt() + self.epsilon))


# part: Ftrl
class Ftrl(Optimizer):
    def __init__(self, parameters, learning_rate, decay, clipnorm, clipvalue, learning_rate_power,
                 initial_accumulator_value, l1_regularization_strength, l2_regularization_strength,
                 l2_shrinkage_regularization_strength):
        super().__init__(parameters, learning_rate, decay, clipnorm, clipvalue)
        self.power, self.start = learning_rate_power, initial_accumulator_value
        self.l1, self.l2 = l1_regularization_strength, l2_regularization_strength
        self.shrinkage = l2_shrinkage_regularization_strength

    def update(self, p, g):
        a, z = self.state(p, "square", self.start), self.state(p, "linear")
        total = a + g * g
        root = total.pow(-self.power)
        z.add_(g + 2 * self.shrinkage * p - (root - a.pow(-self.power)) / self.rate * p)
        w = (self.l1 * z.sign() - z) / (root / self.rate + 2 * self.l2)
        p.copy_(torch.where(z.abs() > self.l1, w, torch.zeros_like(w)))
        a.copy_(total)


# part: Measure
class Measure:
    """A metric over batches: "accuracy" by Keras's rule, "mae" or "mse"."""

    def __init__(self, name):
        self.name, self.sum, self.count = name, 0.0, 0

    def add(self, o, y):
        if self.name != "accuracy":
            d = (squeezed(o, y) - squeezed(y, o)).double()
            values = d.abs() if self.name == "mae" else d * d
        elif o.size(-1) == 1:
            values = ((squeezed(o, y) > 0.5) == squeezed(y, o)).double()
        else:
            o = torch.where(o.isnan(), torch.full_like(o, -math.inf), o).argmax(-1)  # NaN never wins
            sparse = y.dim() < o.dim() + 1 or y.size(-1) == 1
            values = (o.flatten() == (y if sparse else y.argmax(-1)).flatten()).double()
        self.sum += values.sum().item()
        self.count += values.numel()

    def value(self):
        return self.sum / self.count


# part: Collected
class Collected:
    """A metric of all rows at once: a function of targets and outputs."""

    def __init__(self, name, function):
        self.name, self.function, self.rows = name, function, []

    def add(self, o, y):
        self.rows.append((y.numpy(), o.numpy()))

    def value(self):
        return float(self.function(*(np.concatenate(one) for one in zip(*self.rows))))


# part: EarlyStopping
class EarlyStopping:
    def __init__(self, monitor, min_delta, patience, mode, baseline, restore_best_weights):
        self.monitor, self.patience, self.restore = monitor, patience, restore_best_weights
        self.maximize = mode == "max" or (mode != "min" and "acc" in monitor)
        self.min_delta = abs(min_delta) if self.maximize else -abs(min_delta)
        self.best = baseline if baseline is not None else -math.inf if self.maximize else math.inf
        self.wait, self.stopped, self.weights = 0, False, None

    def epoch_end(self, logs, model):
        """True: stop."""
        current = logs.get(self.monitor)
        if current is None:
            return False
        current_better = current - self.min_delta
        if current_better > self.best if self.maximize else current_better < self.best:
            self.best, self.wait = current, 0
            if self.restore:
                self.weights = {name: value.clone() for name, value in model.state_dict().items()}
            return False
        self.wait += 1
        self.stopped = self.wait >= self.patience
        return self.stopped

    def finish(self, model):
        if self.stopped and self.weights is not None:
            model.load_state_dict(self.weights)
