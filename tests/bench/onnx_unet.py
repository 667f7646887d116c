#!/usr/bin/env python3
"""The same UNet in ONNX Runtime, to be timed beside Tarmac: options and JSON of the PyTorch peer's `infer`.

  onnx_unet.py infer --mode fp32|int8 [--base 32 --batch 1 --size 368x480 --steps 20 --threads 2]

Needs onnxruntime, onnx, numpy. The weights are random, with batch normalisation folded into them as ONNX Runtime would do itself; int8 is
its own static quantisation (bytes times bytes with a weight scale an output channel), calibrated on two random pictures. The answer is the
class of each pixel.
"""
import argparse
import json
import os
import resource
import statistics
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Net:
    """4 levels down, transposed 2x2 convolutions up, skip concatenation (skip first), 1x1 head, argmax."""

    def __init__(self, base, classes):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)
        c = [base * 2 ** k for k in range(5)]
        x, skips = 'picture', []
        for k in range(5):
            x = self.double(x, 3 if k == 0 else c[k - 1], c[k])
            if k < 4:
                skips.append(x)
                x = self.add('MaxPool', [x], kernel_shape=[2, 2], strides=[2, 2])
        for k in (3, 2, 1, 0):
            up = self.layer('ConvTranspose', x, c[k + 1], c[k], (c[k + 1], c[k], 2, 2), kernel_shape=[2, 2], strides=[2, 2])
            x = self.double(self.add('Concat', [skips[k], up], axis=1), 2 * c[k], c[k])
        x = self.layer('Conv', x, base, classes, (classes, base, 1, 1), kernel_shape=[1, 1])
        self.add('ArgMax', [x], output='labels', axis=1, keepdims=0)

    def add(self, op, inputs, output='', **attributes):
        output = output or f'{op}{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def weight(self, shape, fan_in):
        name = f'w{len(self.weights)}'
        values = self.random.normal(0, (2 / fan_in) ** 0.5 if fan_in else 0.02, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def layer(self, op, x, ins, outs, shape, **attributes):
        taps = shape[2] * shape[3] if op == 'Conv' else 1
        return self.add(op, [x, self.weight(shape, ins * taps), self.weight((outs,), 0)], **attributes)

    def double(self, x, ins, outs):
        for i in (ins, outs):
            x = self.layer('Conv', x, i, outs, (outs, i, 3, 3), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            x = self.add('Relu', [x])
        return x

    def model(self, batch, height, width):
        picture = helper.make_tensor_value_info('picture', TensorProto.FLOAT, [batch, 3, height, width])
        labels = helper.make_tensor_value_info('labels', TensorProto.INT64, [batch, height, width])
        graph = helper.make_graph(self.nodes, 'unet', [picture], [labels], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def quantised(folder, path, picture):
    from onnxruntime import quantization as q

    class Pictures(q.CalibrationDataReader):
        def __init__(self):
            self.left = [picture, -picture]

        def get_next(self):
            return {'picture': self.left.pop()} if self.left else None

    out = os.path.join(folder, 'int8.onnx')
    q.quantize_static(path, out, Pictures(), quant_format=q.QuantFormat.QDQ, per_channel=True,
                      activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
    return out


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('what', choices=['infer'])
    p.add_argument('--mode', choices=['fp32', 'int8'], default='fp32')
    p.add_argument('--base', type=int, default=32)
    p.add_argument('--batch', type=int, default=1)
    p.add_argument('--size', default='368x480')
    p.add_argument('--steps', type=int, default=20)
    p.add_argument('--threads', type=int, default=os.cpu_count())
    return p.parse_args()


def main():
    a = parse()
    height, width = map(int, a.size.split('x'))
    picture = np.random.default_rng(1).normal(size=(a.batch, 3, height, width)).astype(np.float32)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = a.threads
    options.log_severity_level = 3
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'fp32.onnx')
        onnx.save(Net(a.base, 11).model(a.batch, height, width), path)
        if a.mode == 'int8':
            path = quantised(folder, path, picture)
        session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])
    seconds = []
    for _ in range(3 + a.steps):
        begin = time.perf_counter()
        session.run(None, {'picture': picture})
        seconds.append(time.perf_counter() - begin)
    median = statistics.median(seconds[3:])
    print(json.dumps(dict(peer='onnxruntime ' + onnxruntime.__version__, what='infer', mode=a.mode, base=a.base, threads=a.threads, batch=a.batch,
                          size=[height, width], seconds=median, images_per_s=a.batch / median,
                          peak_rss_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)))


main()
